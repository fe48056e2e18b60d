import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { it } from 'node:test'

it('has a key of its own for each page: staff have those of customers too', () => {
  const pages = readFileSync(new URL('../pages.tsx', import.meta.url), 'utf8')
  const keys = [...pages.matchAll(/^ {4}key: '(.)',$/gm)].map(([, key]) => key)
  assert.ok(keys.length > 10, `${keys.length} keys`)
  assert.deepEqual(
    keys.filter((key, at) => keys.indexOf(key) !== at),
    [],
  )
})
