// Checks contract/openapi.json with the recommended rules of Redocly. It prints every problem, and fails on errors and warnings.
import { readFile } from 'node:fs/promises'
import { createConfig, lintFromString } from '@redocly/openapi-core'

const file = new URL('../contract/openapi.json', import.meta.url)
// It compiles the schema of each example by itself, half of the time; server/test/openapi-document.test.ts compiles components once.
const rules = { 'no-invalid-media-type-examples': 'off' }
const config = await createConfig({ extends: ['recommended'], rules })
const problems = await lintFromString({
  source: await readFile(file, 'utf8'),
  absoluteRef: 'contract/openapi.json',
  config,
})
for (const { severity, ruleId, message, location } of problems) {
  process.stderr.write(`${severity} ${ruleId}: ${message} ${location[0]?.pointer ?? ''}\n`)
}
if (problems.length > 0) process.exitCode = 1
