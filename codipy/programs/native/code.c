/* SPDX-License-Identifier: Apache-2.0 */
/* The loops that were compiled in this process: found by what they do, made when they have been wanted often enough.
 *
 * A loop's memory is written before it may be executed and never again, and is there as long as the process. Where a
 * system forbids that, or the processor is another, tiles run loop by loop, with the same bits. */
#include "codipy/programs/native/compile.h"
#include "codipy/programs/tiles/compiled.h"

/* The address sanitizer would not see what compiled loops read and write. */
#if defined(__SANITIZE_ADDRESS__)
#define TILE_SANITIZED 1
#elif defined(__has_feature)
#define TILE_SANITIZED __has_feature(address_sanitizer)
#else
#define TILE_SANITIZED 0
#endif

#if defined(__x86_64__) && defined(__LP64__) && defined(__GNUC__) && !defined(_WIN32) && !TILE_SANITIZED
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    CODE_ENTRIES = 2048,
    CODE_MOST = 1024,  /* entries that are taken */
    CODE_TRIED = 768,  /* loops that are compiled: the others are wanted, and are forgotten together when room is short */
    CODE_BYTES = 1 << 15
};

/* What a loop does, without a byte between the fields. */
typedef struct {
    uint32_t constant;
    int16_t actions, vectors;
    int32_t lanes; /* 0, or of a loop over rows: how many numbers each has */
    uint32_t kept[(TILE_REGISTERS + 31) / 32];
    TileAction action[TILE_ACTIONS];
} CodeKey;

_Static_assert(sizeof(TileAction) == 12 && offsetof(CodeKey, action) % 4 == 0, "keys are compared as bytes");

typedef struct {
    uint64_t hash;
    Py_ssize_t tiles; /* that wanted it */
    CodeKey *key;     /* as much of it as there are actions */
    TileCompiled loop;
    int tried;
} CodeEntry;

static CodeEntry code_entry[CODE_ENTRIES];
static int code_entries, code_tried, code_lock;

static void __attribute__((constructor)) code_find_processor(void)
{
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2")) tile_vectors = VECTORS_OF_4;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("bmi2"))
        tile_vectors = VECTORS_OF_8;
}

static inline size_t key_size(int actions)
{
    return offsetof(CodeKey, action) + actions * sizeof(TileAction);
}

static uint64_t key_hash(const CodeKey *key)
{
    uint64_t hash = 0;
    for (size_t at = 0, size = key_size(key->actions); at < size; at += 4) {
        uint32_t word;
        memcpy(&word, (const char *)key + at, 4);
        hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    return hash;
}

/* Executable memory with the code; NULL if the system does not give it. */
static uint8_t *code_publish(const uint8_t *code, int size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (size + page - 1) & ~(page - 1);
    uint8_t *memory = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    memcpy(memory, code, size);
    if (mprotect(memory, whole, PROT_READ | PROT_EXEC)) {
        munmap(memory, whole);
        return NULL;
    }
    return memory;
}

static TileCompiled code_make(const CodeKey *key)
{
    static uint8_t room[CODE_BYTES];
    static Lines lines;
    static Compiler compiler;
    uint8_t *memory;
    const uint8_t *entry;
    int size;
    const int wide = key->vectors == VECTORS_OF_8;
    if (!lines_of(&lines, key->action, key->actions, key->constant, key->lanes != 0, key->kept)) return NULL;
    entry = key->lanes ? compile_rows(&compiler, &lines, wide, key->lanes, room, CODE_BYTES, &size)
                       : compile_loop(&compiler, &lines, wide, room, CODE_BYTES, &size);
    memory = entry ? code_publish(room, size) : NULL;
    return memory ? (TileCompiled)(uintptr_t)(memory + (entry - room)) : NULL;
}

/* Where a loop is in the table, or would be: at most half of the places are taken. */
static CodeEntry *code_place(const CodeKey *key, uint64_t hash)
{
    for (size_t place = hash >> 40;; place++) {
        CodeEntry *entry = &code_entry[place & (CODE_ENTRIES - 1)];
        if (!entry->key) return entry;
        if (entry->hash == hash && entry->key->actions == key->actions && !memcmp(entry->key, key, key_size(key->actions)))
            return entry;
    }
}

/* Makes room in a full table: loops that were not wanted often enough so far are new again. */
static void code_forget(void)
{
    static CodeEntry before[CODE_ENTRIES];
    memcpy(before, code_entry, sizeof(before));
    memset(code_entry, 0, sizeof(code_entry));
    code_entries = code_tried;
    for (const CodeEntry *entry = before; entry < before + CODE_ENTRIES; entry++) {
        if (entry->tried)
            *code_place(entry->key, entry->hash) = *entry;
        else
            free(entry->key);
    }
}

/* The entry of a loop, a new one if there is room; NULL if not. */
static CodeEntry *code_find(const CodeKey *key)
{
    const uint64_t hash = key_hash(key);
    CodeEntry *entry = code_place(key, hash);
    if (entry->key) return entry;
    if (code_entries == CODE_MOST) {
        code_forget();
        entry = code_place(key, hash);
    }
    if (!(entry->key = malloc(key_size(key->actions)))) return NULL;
    memcpy(entry->key, key, key_size(key->actions));
    entry->hash = hash;
    code_entries++;
    return entry;
}

/* The compiled loop; NULL if there is none, not yet, or another thread is looking for one: nobody ever waits. So a process
   that was forked at such a moment never finds any, which is slow and right. */
static TileCompiled code_for(const CodeKey *key, Py_ssize_t tiles)
{
    TileCompiled loop = NULL;
    if (__atomic_exchange_n(&code_lock, 1, __ATOMIC_ACQUIRE)) return NULL;
    CodeEntry *entry = code_find(key);
    if (entry) {
        entry->tiles += tiles;
        if (!entry->tried && code_tried < CODE_TRIED && entry->tiles >= tile_patience) {
            entry->tried = 1;
            code_tried++;
            entry->loop = code_make(entry->key);
        }
        loop = entry->loop;
    }
    __atomic_store_n(&code_lock, 0, __ATOMIC_RELEASE);
    return loop;
}

/* Who reads a register after an action: later actions, and the arrays that are written. */
static void find_kept(const TileRun *run, int from, CodeKey *key)
{
    memset(key->kept, 0, sizeof(key->kept));
#define KEEP(reg) key->kept[(reg) >> 5] |= 1u << ((reg) & 31)
    for (int k = 0; k < run->bindings; k++)
        if (run->binding[k].role != LOAD) KEEP(run->binding[k].reg);
    for (const TileAction *a = run->action + from, *end = run->action + run->actions; a < end; a++) {
        KEEP(a->x);
        KEEP(a->y);
        KEEP(a->z);
        KEEP(a->w);
        KEEP(a->in);
        KEEP(a->out);
    }
#undef KEEP
}

void run_compile(TileRun *run)
{
    CodeKey key;
    int kept = 0, loops = 0;
    if (tile_vectors == NO_VECTORS || run->single) return;
    const Py_ssize_t tiles = walk_tiles(&run->walk);
    int flows = run->actions; /* where directions side by side begin: only a loop over rows keeps those that meet apart */
    while (run->walk.lanes > 1 && run->action[flows - 1].kind != LANES) flows--;
    for (int k = 0, next; k < run->actions; k = next) {
        for (next = k; next < run->actions && *formula_of(&run->action[next]);) next++;
        TileCompiled loop = NULL;
        const int rows = k == flows && next == run->actions;
        if ((k < flows ? next - k > 1 : rows) && loops < TILE_COMPILED) {
            key.lanes = rows ? run->walk.lanes : 0;
            key.constant = run->constant;
            key.actions = (int16_t)(next - k);
            key.vectors = (int16_t)tile_vectors;
            memcpy(key.action, run->action + k, key.actions * sizeof(TileAction));
            find_kept(run, next, &key);
            loop = code_for(&key, tiles);
        }
        if (loop) {
            run->compiled[loops] = loop;
            run->compiled_rows |= rows;
            run->action[kept].kind = COMPILED;
            run->action[kept++].code = (int16_t)loops++;
            continue;
        }
        next += next == k;
        memmove(run->action + kept, run->action + k, (next - k) * sizeof(TileAction));
        kept += next - k;
    }
    run->actions = kept;
}
#else

void run_compile(TileRun *run)
{
    (void)run;
}
#endif
