// Checks the OpenAPI document, and the same document in OpenAPI 3.0, with the recommended rules of Redocly. It prints every problem, and
// fails on errors and warnings.
import { BaseResolver, createConfig, lintDocument, Source } from '@redocly/openapi-core'
import { apiDocument } from '../contract/src/document/document.ts'
import { openapi30 } from '../contract/src/document/openapi-30.ts'

const text = JSON.stringify(apiDocument('0.0.0'))
const documents = {
  'openapi.json': text,
  'openapi-3.0.json': JSON.stringify(openapi30(JSON.parse(text))),
}
// It compiles the schema of each example by itself, half of the time; server/test/openapi-document.test.ts compiles components once.
const rules = { 'no-invalid-media-type-examples': 'off' }
const config = await createConfig({ extends: ['recommended'], rules })
const externalRefResolver = new BaseResolver()
for (const [file, body] of Object.entries(documents)) {
  // Its own parser reads YAML, which takes a third of the time.
  const document = { source: new Source(file, body), parsed: JSON.parse(body) }
  const problems = await lintDocument({ document, externalRefResolver, config })
  for (const { severity, ruleId, message, location } of problems)
    process.stderr.write(`${file}: ${severity} ${ruleId}: ${message} ${location[0]?.pointer ?? ''}\n`)
  if (problems.length > 0) process.exitCode = 1
}
