# SPDX-License-Identifier: Apache-2.0
# The one owner of raw memory in this folder: blocks for chunks, pooled when given back, and small tables.

# Memory for a chunk, aligned to 64 bytes, contents undefined; from the pool when it has that very size.
cdef char* acquire(size_t bytes) except NULL
# Gives a block back: to the pool when it is worth it and has room, else to the system. Never fails.
cdef void release(char* block, size_t bytes) noexcept
# A table of new_bytes with the old contents, its tail filled with zeros; on MemoryError the old one stands.
cdef void* resize(void* table, size_t old_bytes, size_t new_bytes) except NULL
cdef void discard(void* table, size_t bytes) noexcept
