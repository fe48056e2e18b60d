// `npm run generate`: records the examples of operations in contract/src.
import { writeFileSync } from 'node:fs'
import { recordAll } from './recordings.ts'

for (const [file, text] of await recordAll())
  writeFileSync(new URL(`../../../../contract/src/${file}`, import.meta.url), text)
