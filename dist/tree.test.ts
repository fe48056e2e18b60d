import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { it } from 'node:test'
import { repository } from './release.ts'
import { shippedFiles } from './tree.ts'

const shipped = new Set(shippedFiles())

/** Files of the repository that a source loads: imports, threads and child processes. */
function filesLoadedBy(file: string): string[] {
  const text = readFileSync(join(repository, file), 'utf8')
  const relative = text.matchAll(/(?:\bfrom |\bimport |\bimport\(|new URL\()'(\.[^']+\.ts)'/g)
  const contract = text.matchAll(/\bfrom '@pharos\/contract\/([^']+)'/g)
  return [
    ...[...relative].map(([, path]) => normalize(join(dirname(file), path!))),
    ...[...contract].map(([, name]) => `contract/src/${name}.ts`),
  ]
}

it('the tree contains every source that its sources load', () => {
  const sources = [...shipped].filter((file) => file.endsWith('.ts'))
  assert.ok(sources.length > 500)
  const missing = sources.flatMap((file) =>
    filesLoadedBy(file)
      .filter((loaded) => !shipped.has(loaded))
      .map((loaded) => `${file} loads ${loaded}`),
  )
  assert.deepEqual(missing, [])
})

it('the tree contains the guides, the migrations and the demo, and no tests, fixtures or recordings', () => {
  for (const file of [
    'docs/api.md',
    'server/src/db/schema.sql',
    'demo/platform.yaml',
    'portal/public/portal.css',
  ])
    assert.ok(shipped.has(file), file)
  assert.ok([...shipped].some((file) => /^server\/src\/db\/migrations\/.*\.sql$/.test(file)))
  const development = /\.test\.|\/testing|\/fixtures|\/recordings\/|^(?:server|portal)\/test\//
  assert.deepEqual(
    [...shipped].filter((file) => development.test(file)),
    [],
  )
})
