// ID1: the processor time of verifying an answer of SAML, through the thread that does it, beside that of a password. The driver takes the time of the answer as its own.
import { createSaml } from '../../server/src/drivers/saml/provider.ts'
import {
  expected,
  idpKey,
  signedResponse,
  toBase64,
} from '../../server/src/drivers/saml/testing-responses.ts'
import type { SamlSettings } from '../../server/src/identity/identity-provider.ts'
import { argon2Hash, argon2Verify } from '../../server/src/session/password-hash.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'

export const signInCost: Benchmark = {
  id: 'ID1',
  name: 'sign-in-cost',
  title: 'processor time of a sign-in by SAML, beside the password',
  missing: () => undefined,
  run,
}

const goalMs = 15
const answerBytes = 20_000
const settings: SamlSettings = {
  kind: 'saml',
  key: 'k3j5mq2xw7ab',
  entityId: expected.issuer,
  signOnUrl: 'https://idp.example/sso',
  certificates: [idpKey.certificate],
  audience: expected.audience,
  acsUrl: expected.recipient,
  groupsClaim: expected.groupsAttribute,
  secondFactorValues: [],
}

async function run({ quick, rounds }: Bench): Promise<Line[]> {
  const times = quick ? 20 : 300
  const saml = createSaml({ claimAssertion: async () => true, now: () => new Date(expected.now) })(settings)
  const hash = await argon2Hash('correct horse battery staple')
  const ways = {
    password: () => argon2Verify(hash, 'correct horse battery staple'),
    saml: (answer: string) =>
      saml.finish({ requestId: expected.requestId }, { state: 's', samlResponse: answer }),
  }
  const lines: Line[] = []
  for (const signs of ['assertion', 'both'] as const) {
    const answer = answerOf(signs)
    const [ofPassword, ofSaml] = [[], []] as number[][]
    for (let round = 0; round < rounds; round++) {
      ofPassword!.push(await cost(times, ways.password))
      ofSaml!.push(await cost(times, () => ways.saml(answer)))
    }
    const [peer, ours] = [Math.min(...ofPassword!), Math.min(...ofSaml!)]
    lines.push({
      what: `SAML, ${signs === 'both' ? 'response and assertion' : 'assertion'} signed, ${(answer.length / 1000).toFixed(0)} kB of base64`,
      result: `${ours.toFixed(1)} ms`,
      peer: `password (argon2id): ${peer.toFixed(1)} ms`,
      ratio: `${(peer / ours).toFixed(2)}x`,
      goal: `<= ${goalMs} ms`,
      reached: ours <= goalMs,
    })
  }
  return lines
}

/** An honest answer with as many groups as make it that large. */
function answerOf(signs: 'assertion' | 'both'): string {
  const groups: string[] = []
  for (;;) {
    const answer = toBase64(signedResponse(signs, { groups }))
    if (answer.length >= answerBytes) return answer
    groups.push(`group-${groups.length}-of-the-company`)
  }
}

/** Milliseconds of processor time of one, with those of the threads. */
async function cost(times: number, sign: () => Promise<unknown>): Promise<number> {
  await sign()
  const before = process.cpuUsage()
  for (let at = 0; at < times; at++) await sign()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000 / times
}
