# SPDX-License-Identifier: Apache-2.0
"""np.where and np.clip of active arrays: elements chosen place by place."""

class Sources: ...
