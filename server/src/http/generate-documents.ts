// Writes contract/surface.txt and docs/roles.md from the contract; with --check it compares the committed ones.
import { readFile, writeFile } from 'node:fs/promises'
import { apiDocument } from '@pharos/contract/document/document'
import { surfaceOf } from '@pharos/contract/document/openapi-surface'
import { rolesDocument } from '@pharos/contract/document/roles-document'
import { version } from '../runtime/version.ts'

const files = [
  ['contract/surface.txt', surfaceOf(JSON.parse(JSON.stringify(apiDocument(version))))],
  ['docs/roles.md', rolesDocument()],
] as const

for (const [name, text] of files) {
  const file = new URL(`../../../${name}`, import.meta.url)
  if (!process.argv.includes('--check')) await writeFile(file, text)
  else if ((await readFile(file, 'utf8').catch(() => '')) !== text) {
    process.stderr.write(`${name} does not match the contract: run npm run generate and commit it\n`)
    process.exitCode = 1
  }
}
