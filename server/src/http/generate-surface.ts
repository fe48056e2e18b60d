// Writes contract/surface.txt from the route values; with --check it compares the committed one.
import { readFile, writeFile } from 'node:fs/promises'
import { apiDocument } from '@pharos/contract/document'
import { surfaceOf } from '@pharos/contract/openapi-surface'
import { version } from '../runtime/version.ts'

const file = new URL('../../../contract/surface.txt', import.meta.url)
const text = surfaceOf(JSON.parse(JSON.stringify(apiDocument(version))))

if (process.argv.includes('--check')) {
  if ((await readFile(file, 'utf8').catch(() => '')) !== text) {
    process.stderr.write(
      'contract/surface.txt does not match the routes: run npm run generate and commit it\n',
    )
    process.exitCode = 1
  }
} else {
  await writeFile(file, text)
}
