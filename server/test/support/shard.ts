// A file whose tests are independent can run as several processes, each with a part of its tests: the runner sets
// PHAROS_TEST_SHARD to `2/3` for the second of three. Without the variable a process runs all tests.

const [index = 1, count = 1] = (process.env['PHAROS_TEST_SHARD'] ?? '1/1').split('/').map(Number)

/** Returns whether this process runs the test at that position; the parts are disjoint and complete. */
export const inShard = (position: number): boolean => position % count === index - 1

/** Returns the items of this process's part. */
export const shardOf = <T>(items: readonly T[]): readonly T[] => items.filter((_, at) => inShard(at))
