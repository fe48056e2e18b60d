// Splits a file of independent tests over several processes: the runner sets PHAROS_TEST_SHARD to `2/3` for the second of three.
// Without the variable a process runs all tests.
import { it, type TestContext, type TestOptions } from 'node:test'

const [index = 1, count = 1] = (process.env['PHAROS_TEST_SHARD'] ?? '1/1').split('/').map(Number)

/** Returns whether this process runs the test at that position; the shards are disjoint and complete. */
export const inShard = (position: number): boolean => position % count === index - 1

/** Returns the items of this process's shard. */
export const shardOf = <T>(items: readonly T[]): readonly T[] => items.filter((_, at) => inShard(at))

type Test = (t: TestContext) => void | Promise<void>

let position = 0

/** Registers a test as `it` does if it belongs to this process's shard; every call takes the next position. */
export function shardedIt(name: string, ...args: [test: Test] | [options: TestOptions, test: Test]): void {
  const [options, test] = args.length === 1 ? [{}, args[0]] : args
  if (inShard(position++)) void it(name, options, test)
}
