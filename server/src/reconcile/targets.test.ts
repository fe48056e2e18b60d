import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { Targets } from './targets.ts'

type Row = { readonly id: number; readonly name: string; readonly note?: string }

let done: string[]
let targets: Targets<Row, { start(): void; stop(): Promise<void> }>

beforeEach(() => {
  done = []
  targets = new Targets({
    settingsOf: ({ name }) => name,
    create({ name }) {
      if (name.startsWith('invalid')) throw new Error(`${name} has no address`)
      return {
        start: () => void done.push(`start ${name}`),
        async stop() {
          await Promise.resolve()
          done.push(`stop ${name}`)
        },
      }
    },
    onInvalid: ({ id }, error) => void done.push(`${id}: ${(error as Error).message}`),
  })
})

const taken = (): string[] => done.splice(0)

describe('targets', () => {
  it('has one part for each row, and keeps it while its settings are the same', async () => {
    await targets.update([{ id: 1, name: 'a' }])
    await targets.update([
      { id: 1, name: 'a', note: 'another' },
      { id: 2, name: 'b' },
    ])
    assert.deepEqual([taken(), targets.parts.length], [['start a', 'start b'], 2])
  })

  it('stops what is gone or has changed before anything starts', async () => {
    await targets.update([
      { id: 1, name: 'a' },
      { id: 2, name: 'b' },
    ])
    taken()
    // A renamed target is a new row.
    await targets.update([
      { id: 2, name: 'c' },
      { id: 3, name: 'a' },
    ])
    assert.deepEqual(taken(), ['stop a', 'stop b', 'start c', 'start a'])
  })

  it('starts the others if a row is invalid, and tries it again', async () => {
    const rows = [
      { id: 1, name: 'invalid' },
      { id: 2, name: 'b' },
    ]
    await targets.update(rows)
    await targets.update(rows)
    assert.deepEqual(taken(), ['1: invalid has no address', 'start b', '1: invalid has no address'])
  })

  it('stops a part whose settings have become invalid', async () => {
    await targets.update([{ id: 1, name: 'a' }])
    await targets.update([{ id: 1, name: 'invalid' }])
    assert.deepEqual([taken(), targets.parts], [['start a', 'stop a', '1: invalid has no address'], []])
  })

  it('stops all, and can start again', async () => {
    await targets.update([{ id: 1, name: 'a' }])
    await targets.stop()
    await targets.update([{ id: 1, name: 'a' }])
    assert.deepEqual(taken(), ['start a', 'stop a', 'start a'])
  })
})
