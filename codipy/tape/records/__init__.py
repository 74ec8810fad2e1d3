# SPDX-License-Identifier: Apache-2.0
"""Steps of a recording that are not scalar statements: array statements, movements, sums, primitives, inputs."""
