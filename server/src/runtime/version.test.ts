import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareVersions, isVersion, version } from './version.ts'

/** The examples of Semantic Versioning 2.0.0, section 11, and the versions of a release here. */
const ascending = [
  '0.1.0',
  '0.2.0-rc.1',
  '0.2.0-rc.2',
  '0.2.0-rc.10',
  '0.2.0',
  '0.2.1',
  '0.10.0',
  '1.0.0-alpha',
  '1.0.0-alpha.1',
  '1.0.0-alpha.beta',
  '1.0.0-beta',
  '1.0.0-beta.2',
  '1.0.0-beta.11',
  '1.0.0-rc.1',
  '1.0.0',
  '2.0.0',
]

test('versions are compared as Semantic Versioning orders them', () => {
  for (const [at, a] of ascending.entries())
    for (const [other, b] of ascending.entries())
      assert.equal(Math.sign(compareVersions(a, b)), Math.sign(at - other), `${a} and ${b}`)
  assert.equal(compareVersions('1.0.0+linux', '1.0.0'), 0)
})

test('a version is told from other text, and the product has one', () => {
  for (const text of [...ascending, version]) assert.ok(isVersion(text), text)
  for (const text of ['', '1', '1.0', 'v1.0.0', '1.0.0 ', '1.0.0-']) assert.ok(!isVersion(text), text)
})
