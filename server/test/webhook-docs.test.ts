// docs/webhooks.md: its examples are messages of the contract, every type has one, and its ways to verify a signature accept valid
// signatures and reject invalid ones.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { test } from 'node:test'
import { messageData, messageOf } from '@pharos/contract/messages/webhook-message'
import { Value } from 'typebox/value'
import { createSecret, formatSecret, signedHeaders } from '../src/webhook/webhook-secret.ts'

const text = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8')
const blocks = (language: string): string[] =>
  [...text.matchAll(new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``, 'g'))].map(([, block]) => block!)

type Type = keyof typeof messageData

test('every type has a section with an example, which is one of its messages', () => {
  const examples = blocks('json').map((block) => JSON.parse(block) as { type: Type })
  assert.deepEqual(
    examples.map(({ type }) => type),
    Object.keys(messageData),
  )
  const sections = [...text.matchAll(/^### (\S+)$/gm)].map(([, type]) => type)
  assert.deepEqual(sections, Object.keys(messageData))
  for (const example of examples) assert.deepEqual([...Value.Errors(messageOf(example.type), example)], [])
})

const secret = createSecret()
const body = '{"type":"webhook.test","data":{"a":"ü"}}'
const headers = signedHeaders([createSecret(), secret], 'msg_1', body, new Date())

test('the function without a library accepts valid signatures and rejects invalid ones', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-docs-'))
  try {
    const file = join(folder, 'verify.mjs')
    writeFileSync(
      file,
      blocks('js').find((block) => block.includes('createHmac'))!,
    )
    const { verify } = (await import(pathToFileURL(file).href)) as {
      verify: (secret: string, headers: object, body: string) => unknown
    }
    assert.deepEqual(verify(formatSecret(secret), headers, body), JSON.parse(body))
    assert.throws(() => verify(formatSecret(secret), headers, `${body} `), /not from Pharos/)
    assert.throws(() => verify(formatSecret(createSecret()), headers, body), /not from Pharos/)
    const old = signedHeaders([secret], 'msg_1', body, new Date(Date.now() - 3_600_000))
    assert.throws(() => verify(formatSecret(secret), old, body), /too old/)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('the shell commands compute the signature', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-docs-'))
  try {
    writeFileSync(join(folder, 'body.json'), body)
    const script = blocks('sh').find((block) => block.includes('openssl dgst'))!
    const env = {
      ...process.env,
      secret: formatSecret(secret),
      id: 'msg_1',
      timestamp: headers['webhook-timestamp'],
    }
    const made = execFileSync('sh', ['-c', script], { cwd: folder, env, encoding: 'utf8' }).trim()
    assert.ok(headers['webhook-signature']!.split(' ').includes(`v1,${made}`))
  } finally {
    rmSync(folder, { recursive: true })
  }
})
