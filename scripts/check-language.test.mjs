import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { commentPlacesOf, commentsOf } from './check-language.mjs'

const placesOf = (file, text) =>
  commentPlacesOf([{ file, text }]).places.map(({ phrase, area, line }) => `${phrase} ${area}:${line}`)

describe('the check of comments and documents', () => {
  it('reads line and block comments, and joins adjacent line comments', () =>
    assert.deepEqual(commentsOf('server/a.ts', '// One\n// two.\nrun()\n/**\n * Three\n */\n'), [
      [0, 'One\ntwo.'],
      [21, '\nThree\n '],
    ]))

  it('leaves quoted texts and code out', () =>
    assert.deepEqual(commentsOf('server/a.ts', 'const a = \'x // y\', b = `/* ${c} */`, d = "// e"\n'), []))

  it('replaces code in a comment', () =>
    assert.deepEqual(commentsOf('server/a.ts', '// Returns `held`.\n'), [[0, 'Returns  x .']]))

  it('finds a phrase that is broken over two lines, with its line and its area', () =>
    assert.deepEqual(placesOf('server/a.ts', 'run()\n// First.\n// The rows are those\n// of a team.\n'), [
      'those of server:3',
    ]))

  it('reads comments of statements', () =>
    assert.deepEqual(placesOf('lab/a.sql', 'select 1;\n-- Kept for a day.\n'), ['kept other:2']))

  it('reads a document without its code, in its own area', () =>
    assert.deepEqual(
      placesOf('server/README.md', 'Kept.\n\n```\nkept\n```\n\nNo `kept` here, but\nat\nonce.\n'),
      ['kept documents:1', 'at once documents:8'],
    ))
})
