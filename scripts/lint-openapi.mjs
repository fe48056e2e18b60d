// Checks the OpenAPI document, and the same document in OpenAPI 3.0, with the recommended rules of Redocly. It prints every problem, and
// fails on errors and warnings.
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { apiDocument } from '../contract/src/document.ts'
import { openapi30 } from '../contract/src/openapi-30.ts'

const source = JSON.stringify(apiDocument('0.0.0'), null, 2)
const documents = {
  'openapi.json': source,
  'openapi-3.0.json': JSON.stringify(openapi30(JSON.parse(source))),
}
// It compiles the schema of each example by itself, half of the time; server/test/openapi-document.test.ts compiles components once.
const rules = { 'no-invalid-media-type-examples': 'off' }
const config = await createConfig({ extends: ['recommended'], rules })
for (const [absoluteRef, text] of Object.entries(documents)) {
  const problems = await lintFromString({ source: text, absoluteRef, config })
  for (const { severity, ruleId, message, location } of problems)
    process.stderr.write(`${absoluteRef}: ${severity} ${ruleId}: ${message} ${location[0]?.pointer ?? ''}\n`)
  if (problems.length > 0) process.exitCode = 1
}
