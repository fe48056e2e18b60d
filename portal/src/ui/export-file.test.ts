import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { csvWriter, jsonWriter } from './export-file.ts'

const pages = [
  [{ id: 1, name: 'a, "b"', tags: ['x'], end: null }],
  [],
  [{ id: 2, name: '=1+1', tags: [], end: -5 }],
]

describe('rows as a file', () => {
  it('are CSV with one header line, quoted if necessary, without formulas', () => {
    const writer = csvWriter()
    const text = pages.map((rows) => writer.add(rows)).join('') + writer.end()
    assert.equal(text, `id,name,tags,end\r\n1,"a, ""b""","[""x""]",\r\n2,'=1+1,[],-5\r\n`)
  })

  it('are JSON that parses to the same rows', () => {
    const writer = jsonWriter()
    const text = pages.map((rows) => writer.add(rows)).join('') + writer.end()
    assert.deepEqual(JSON.parse(text), pages.flat())
  })

  it('are an empty list if there are none', () => {
    assert.deepEqual(JSON.parse(jsonWriter().add([]) + jsonWriter().end()), [])
    assert.equal(csvWriter().add([]) + csvWriter().end(), '')
  })
})
