import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseAsn } from '../../net/asn.ts'
import { createKeyRing } from '../../runtime/secrets.ts'
import type { ProofSubject } from './asn-proof-result.ts'
import { checkAutNum, instructAutNum, judgeAutNum } from './asn-proof-aut-num.ts'
import type { AutNumAnswer } from '../../registry/irr.ts'
import { asnTokens } from './asn-token.ts'

const asn = parseAsn(64500)
const ring = createKeyRing(['a secret of the tests that is long enough'])
const subject: ProofSubject = { asn, tokens: asnTokens(ring, 7, asn), heldPrefixes: [] }
const [token] = subject.tokens
const signal = new AbortController().signal

const object = (
  lines: string,
  { number = 'AS64500', source = 'RIPE' } = {},
): string => `aut-num:        ${number}
as-name:        EXAMPLE-AS
descr:          Example Networks
${lines}
mnt-by:         EXAMPLE-MNT
source:         ${source}
`

describe('the aut-num object', () => {
  it('is a proof with the token in a remark or a description', () => {
    for (const lines of [
      `remarks:        ${token}`,
      `descr:          ${token}`,
      `remarks:        our peering policy\nremarks:        ${token}\nremarks:        write to us`,
      `remarks:        our peering policy\n                ${token}`,
    ]) {
      const result = judgeAutNum(object(lines), subject)
      assert.equal(result.state, 'valid', lines)
      assert.deepEqual(result.evidence, {
        source: 'RIPE',
        holder: 'EXAMPLE-AS, Example Networks',
        rir: 'ripe',
      })
    }
  })

  it('is no proof without the token, with that of another team, or with it elsewhere', () => {
    const other = asnTokens(ring, 8, asn)[0]
    for (const lines of ['remarks:        hello', `remarks:        ${other}`, `org:            ${token}`])
      assert.equal(judgeAutNum(object(lines), subject).state, 'missing', lines)
  })

  it('is no proof in a registry where anyone may register it', () => {
    for (const source of ['RADB', 'RIPE-NONAUTH', 'ALTDB']) {
      const result = judgeAutNum(object(`remarks:        ${token}`, { source }), subject)
      assert.equal(result.state, 'missing')
      assert.match(result.note, new RegExp(`${source}.*anybody`))
    }
  })

  it('is rejected if it is that of another ASN or cannot be parsed', () => {
    const lines = `remarks:        ${token}`
    for (const text of [object(lines, { number: 'AS64501' }), '', token, `route: 203.0.113.0/24\n${lines}`])
      assert.equal(judgeAutNum(text, subject).state, 'error', text)
  })

  it('is queried again each time, and is unavailable if no registry answers or none is configured', async () => {
    const asked: unknown[] = []
    const check = (answer: AutNumAnswer) =>
      checkAutNum(
        {
          irr: {
            autNum: async (_, question) => {
              asked.push(question?.maxAgeSeconds)
              return answer
            },
          },
        },
        subject,
        signal,
      )
    const text = object(`remarks: ${token}`)
    const fetched = new Date()
    assert.equal((await check({ state: 'found', text, source: 'irr', fetched })).state, 'valid')
    assert.equal((await check({ state: 'missing', fetched })).state, 'missing')
    assert.equal((await check({ state: 'unavailable', reason: 'down' })).state, 'unavailable')
    assert.deepEqual(asked, [0, 0, 0])
    assert.equal((await checkAutNum({}, subject, signal)).state, 'unavailable')
  })

  it('is a proof once the instructions are followed exactly', () => {
    const line = instructAutNum(subject)[0]!.lines[0]!
    assert.equal(judgeAutNum(object(line), subject).state, 'valid')
  })
})
