# SPDX-License-Identifier: Apache-2.0
"""What a scalar statement stores: the strategies, their interface and their table."""
