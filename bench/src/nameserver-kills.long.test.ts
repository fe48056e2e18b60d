// D11 in small: five kills. The benchmark kills a thousand times.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { skipWithout } from '../../lab/src/program.ts'
import { startCluster, type Cluster } from './cluster.ts'
import { killRepeatedly } from './nameserver-kills.ts'

it(
  'loses no acknowledged change and removes no zone when the name server is killed',
  { skip: skipWithout('named', 'knotd'), timeout: 300_000 },
  async () => {
    await using stack = new AsyncDisposableStack()
    const folder = await mkdtemp(join(tmpdir(), 'pharos-kills-'))
    stack.defer(() => rm(folder, { recursive: true, force: true }))
    const report = (): void => {}
    let cluster: Promise<Cluster> | undefined
    stack.defer(async () => (await cluster)?.[Symbol.asyncDispose]())
    const dataDir = join(folder, 'postgres')
    const bench = {
      quick: true,
      brief: false,
      full: false,
      rounds: 1,
      sliceSeconds: 1,
      clients: 1,
      folder,
      report,
      cluster: () => (cluster ??= startCluster({ dataDir, report })),
    }
    const { acknowledged, questions, lost, missing } = await killRepeatedly(bench, 5)
    assert.deepEqual({ lost, missing }, { lost: [], missing: [] })
    assert.ok(acknowledged >= 24 && questions > 0, `${acknowledged} changes, ${questions} questions`)
  },
)
