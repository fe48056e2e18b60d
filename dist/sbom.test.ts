import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, it } from 'node:test'
import { licensesOf, packageFolders } from './licenses.ts'
import { manifestOf, type Release } from './release.ts'
import { withComponents, type Sbom } from './sbom.ts'

const folder = mkdtempSync(join(tmpdir(), 'pharos-sbom-'))
after(() => rmSync(folder, { recursive: true }))

function write(path: string, content: unknown): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), typeof content === 'string' ? content : JSON.stringify(content))
}

const release: Release = { version: '1.2.3', commit: 'abc', time: 1_700_000_000 }

it('the bill of a release is the same in every build, and another with other components', () => {
  const sbomAt = (timestamp: string, serialNumber: string): Sbom => ({
    bomFormat: 'CycloneDX',
    serialNumber,
    metadata: { timestamp },
    components: [{ type: 'library', name: 'a', version: '1.0.0' }],
  })
  const node = { type: 'application', name: 'node', version: '26.10.0' }
  const first = withComponents(sbomAt('2026-01-01T00:00:00Z', 'urn:uuid:1'), [node], release)
  const second = withComponents(sbomAt('2026-02-02T00:00:00Z', 'urn:uuid:2'), [node], release)
  assert.deepEqual(first, second)
  assert.equal(first.metadata.timestamp, '2023-11-14T22:13:20.000Z')
  assert.match(
    first.serialNumber,
    /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
  )
  assert.deepEqual(
    first.components.map(({ name }) => name),
    ['a', 'node'],
  )
  assert.notEqual(withComponents(first, [node], release).serialNumber, first.serialNumber)
})

it('packages are found nested and scoped, and licenses of all of them are in one text', () => {
  write('node_modules/a/package.json', { name: 'a', version: '1.0.0', license: 'MIT' })
  write('node_modules/a/LICENSE.md', 'License of a')
  write('node_modules/a/dist/esm/package.json', { type: 'module' })
  write('node_modules/a/node_modules/b/package.json', { name: 'b', version: '2.0.0', license: 'ISC' })
  write('node_modules/@scope/c/package.json', { name: '@scope/c', version: '3.0.0' })
  write('portal/dist/packages.json', [{ name: 'react', version: '19.3.1', license: 'MIT' }])
  const found = packageFolders(folder).map((place) => manifestOf(place).name)
  assert.deepEqual(found.toSorted(), ['@scope/c', 'a', 'b'])
  const text = licensesOf(folder)
  for (const part of [
    /^a@1\.0\.0: MIT\n\nLicense of a$/m,
    /^b@2\.0\.0: ISC$/m,
    /^@scope\/c@3\.0\.0: /m,
    /^react@\S+: MIT\n\nMIT License/m,
  ])
    assert.match(text, part)
})
