import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ProblemError } from '@pharos/contract/client'
import { allRows, type RequestPage } from './all-rows.ts'

const listOf = (rows: readonly { id: number }[]): RequestPage => {
  return async (offset, limit) => ({ results: rows.slice(offset, offset + limit), count: rows.length })
}
const idsOf = async (ask: RequestPage, waited: number[] = []): Promise<number[]> => {
  const ids: number[] = []
  const wait = async (seconds: number) => void waited.push(seconds)
  for await (const { results } of allRows(ask, wait)) ids.push(...results.map(({ id }) => id as number))
  return ids
}
const numbers = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => ({ id: from + at }))

describe('all rows of a list', () => {
  it('are yielded once, in order', async () => {
    assert.deepEqual(
      await idsOf(listOf(numbers(0, 2500))),
      numbers(0, 2500).map(({ id }) => id),
    )
    assert.deepEqual(await idsOf(listOf([])), [])
  })

  it('are yielded once if rows are inserted at the start meanwhile', async () => {
    let first = 0
    const ids = await idsOf((offset, limit) => listOf(numbers((first -= 3), 2000))(offset, limit))
    assert.equal(new Set(ids).size, ids.length)
    assert.deepEqual(
      ids.filter((id) => id >= 0),
      numbers(0, 2000).map(({ id }) => id),
    )
  })

  it('continue after the delay that the server requests', async () => {
    let asked = 0
    const waited: number[] = []
    const ids = await idsOf(async (offset, limit) => {
      if (++asked === 2) throw new ProblemError({ status: 429 } as never, 7)
      return listOf(numbers(0, 1500))(offset, limit)
    }, waited)
    assert.equal(ids.length, 1500)
    assert.deepEqual(waited, [7])
  })

  it('end with any other problem', async () => {
    const broken: RequestPage = async () => {
      throw new ProblemError({ status: 403 } as never)
    }
    await assert.rejects(idsOf(broken), ProblemError)
  })
})
