// Writes contract/openapi.json from the route values; with --check it compares the committed one.
import { readFile, writeFile } from 'node:fs/promises'
import { apiDocument } from '@pharos/contract/document'
import { version } from '../runtime/version.ts'

const file = new URL('../../../contract/openapi.json', import.meta.url)
const text = `${JSON.stringify(apiDocument(version), null, 2)}\n`

if (process.argv.includes('--check')) {
  if ((await readFile(file, 'utf8').catch(() => '')) !== text) {
    process.stderr.write(
      'contract/openapi.json does not match the routes: run npm run generate and commit it\n',
    )
    process.exitCode = 1
  }
} else {
  await writeFile(file, text)
}
