import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigError, type Environment, type Files } from '../runtime/config.ts'
import { readConfiguration } from './configuration.ts'

const noFiles: Files = { read: () => undefined, mode: () => 0o600, create: () => {} }

function problemsOf(env: Environment): readonly string[] {
  try {
    readConfiguration({ PHAROS_SECRET: 'a-secret-of-at-least-thirty-two-bytes', ...env }, noFiles)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

test('drivers and domains check their settings, and every mistake is reported at once with its place', () => {
  const mistakes: readonly (readonly [variable: string, value: string, expected: RegExp])[] = [
    ['PHAROS_CLAMD_URL', 'tcp://host', /: clamd_url: must be like unix:/],
    ['PHAROS_DNS_RESOLVERS', 'ns.example.net', /: dns_resolvers: a name server is an address/],
    ['PHAROS_IRR_SOURCES', 'whois://', /: irr_sources: IRR source "whois:\/\/": the host is missing/],
    ['PHAROS_MAIL_URL', 'smtp://:s3cret@mail.net.example', /: mail_url: has a user without a password/],
    ['PHAROS_OPERATOR_WEBHOOK_SECRET', 'whsec_s3cret', /: operator_webhook_secret: must be whsec_/],
    ['PHAROS_RDAP_BOOTSTRAP', 'ftp://x', /: rdap_bootstrap: write https:/],
    ['PHAROS_RPKI_SOURCES', 'ssh://cache:22', /: rpki_sources: write rtr:/],
    ['PHAROS_WEBHOOK_NETWORKS_ALLOWED', '10.0.0.0/33', /: webhook_networks_allowed: /],
  ]
  const problems = problemsOf(Object.fromEntries(mistakes))
  assert.equal(problems.length, mistakes.length)
  for (const [variable, , expected] of mistakes) {
    const problem = problems.find((one) => one.startsWith(`${variable}: `)) ?? ''
    assert.match(problem, expected)
    assert.doesNotMatch(problem, /s3cret/)
  }
})

test('settings that the drivers accept are accepted, without reading their files', () => {
  assert.deepEqual(
    problemsOf({
      PHAROS_CLAMD_URL: 'unix:/run/clamav/clamd.ctl',
      PHAROS_DNS_RESOLVERS: '192.0.2.53,[2001:db8::53]:5353',
      PHAROS_IRR_SOURCES: 'whois://irr.example?sources=RADB,file:/nowhere/ripe.db.gz',
      PHAROS_MAIL_URL: 'smtps://user:word@mail.net.example?ca=/nowhere.pem',
      PHAROS_MAIL_FROM: 'noreply@net.example',
      PHAROS_RDAP_BOOTSTRAP: 'file:/nowhere/rdap/',
      PHAROS_RPKI_SOURCES: 'rtrs://cache.example:3324?ca=/nowhere.pem,https://host/vrps.json',
      PHAROS_WEBHOOK_NETWORKS_ALLOWED: '192.0.2.1,2001:db8::/32',
    }),
    [],
  )
})
