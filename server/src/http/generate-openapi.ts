// Writes contract/openapi.json and docs/roles.md from the contract; with --check it compares the committed ones.
import { readFile, writeFile } from 'node:fs/promises'
import { apiDocument } from '@pharos/contract/document'
import { rolesDocument } from '@pharos/contract/roles-document'
import { version } from '../runtime/version.ts'

const files = [
  ['contract/openapi.json', `${JSON.stringify(apiDocument(version), null, 2)}\n`],
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
