// The conformance suite of mail transports, run for the folder and for a real SMTP server. It uses only the port;
// received mails are parsed by a library that did not compose them.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import * as fc from 'fast-check'
import { codePoint } from '../runtime/testing-code-point.ts'
import PostalMime from 'postal-mime'
import { DriverError, type DriverErrorKind } from '../runtime/driver-error.ts'
import type { MailMessage, MailTransport } from './mail-transport.ts'

export type MailTransportFixture = {
  readonly transport: MailTransport
  /** Another transport to the same target, which the test closes. */
  connect(): MailTransport
  /** A transport whose target does not exist. */
  readonly absent: MailTransport
  /** Mails received since the last call, byte for byte. */
  taken(): Promise<readonly Buffer[]>
  stop(): Promise<void>
}

/** Runs the suite; `make` starts one target for all tests. */
export function mailTransportConformance(name: string, make: () => Promise<MailTransportFixture>): void {
  describe(`the mail transport ${name}`, () => {
    let fixture: MailTransportFixture
    before(async () => {
      fixture = await make()
    })
    beforeEach(() => fixture.taken())
    after(() => fixture?.stop())

    const deliver = async (message: MailMessage) => {
      await fixture.transport.send(message)
      const [bytes, ...others] = await fixture.taken()
      assert.equal(others.length, 0)
      return { bytes: bytes!, mail: await PostalMime.parse(bytes!) }
    }

    it('has a name', () => assert.ok(fixture.transport.name.length > 0))

    it('delivers sender, recipient, subject, date, id and both texts', async () => {
      const { mail } = await deliver(sample())
      assert.deepEqual(mail.from, { name: 'Example Net', address: 'noreply@net.example' })
      assert.deepEqual(mail.to, [{ name: '', address: 'anna@customer.example' }])
      assert.deepEqual(mail.replyTo, [{ name: 'Help', address: 'help@net.example' }])
      assert.equal(mail.subject, 'Your password was changed')
      assert.equal(mail.messageId, '<mail-1.example@net.example>')
      assert.equal(mail.date, '2026-01-31T12:00:00.000Z')
      assert.equal(mail.text?.trimEnd(), sample().text)
      assert.equal(mail.html?.trimEnd(), sample().html)
      assert.equal(mail.attachments.length, 0)
    })

    it('marks the mail as sent by a program, so that no program replies', async () => {
      const { mail } = await deliver(sample())
      const value = (key: string) => mail.headers.find((header) => header.key === key)?.value
      assert.equal(value('auto-submitted'), 'auto-generated')
      assert.equal(value('x-auto-response-suppress'), 'All')
    })

    it('returns the result', async () => {
      assert.match(await fixture.transport.send(sample()), /\S/)
    })

    it('does not require a Reply-To address', async () => {
      const { mail } = await deliver(sample({ replyTo: null }))
      assert.equal(mail.replyTo, undefined)
    })

    it('transfers every script, and lines with a meaning in the protocol', async () => {
      const text = 'Zürich, Ελλάδα, 日本 🚀\n.\n..\nFrom here\nMAIL FROM:<x@y.example>\n--boundary--'
      const { mail } = await deliver(
        sample({ subject: 'Grüße an 日本 🚀', text, html: `<p>${text.replaceAll('\n', '<br>')}</p>` }),
      )
      assert.equal(mail.subject, 'Grüße an 日本 🚀')
      assert.equal(mail.text?.trimEnd(), text)
      assert.ok(mail.html?.includes('<br>.<br>..<br>From here<br>'))
    })

    it('does not break a long link, not even in the raw mail', async () => {
      const link = `https://net.example/reset-password#${'a1B_'.repeat(60)}`
      const { bytes, mail } = await deliver(sample({ text: `Follow it:\n\n${link}\n` }))
      assert.ok(bytes.includes(`\r\n${link}\r\n`))
      assert.ok(mail.text?.includes(link))
    })

    it('ends every line with CRLF', async () => {
      const { bytes } = await deliver(sample({ text: 'a\nb', html: '<p>a\nb</p>' }))
      assert.doesNotMatch(bytes.toString('latin1').replaceAll('\r\n', ''), /[\r\n]/)
    })

    it('composes the same bytes for the same mail, so that duplicates are identical', async () => {
      const [first, second] = [await deliver(sample()), await deliver(sample())]
      const parts = ({ bytes }: { bytes: Buffer }) => bytes.subarray(bytes.indexOf('From:')).toString()
      assert.equal(parts(first), parts(second))
    })

    it('gives a mail that is sent twice the same id', async () => {
      await fixture.transport.send(sample())
      await fixture.transport.send(sample())
      const ids = await Promise.all(
        (await fixture.taken()).map(async (bytes) => (await PostalMime.parse(bytes)).messageId),
      )
      assert.deepEqual([...new Set(ids)], ['<mail-1.example@net.example>'])
    })

    it('sends many at once, each with its own content', async () => {
      const many = Array.from({ length: 40 }, (_, at) =>
        sample({ id: `mail-${at}`, subject: `Subject ${at}`, text: `Text ${at}` }),
      )
      await Promise.all(many.map((message) => fixture.transport.send(message)))
      const mails = await Promise.all((await fixture.taken()).map((bytes) => PostalMime.parse(bytes)))
      assert.deepEqual(
        mails.map(({ subject, text }) => `${subject}: ${text?.trimEnd()}`).toSorted(),
        many.map(({ subject, text }) => `${subject}: ${text}`).toSorted(),
      )
    })

    for (const to of [
      'nobody',
      '',
      'a@b.example, c@d.example',
      'a@b.example\r\nRCPT TO:<c@d.example>',
      'a@b.example>\r\nDATA',
      '"a b"@c.example',
      'Anna <a@b.example>',
    ]) {
      it(`permanently rejects an invalid address: ${JSON.stringify(to)}`, async () => {
        await assert.rejects(fixture.transport.send(sample({ to })), isKind('refused'))
        assert.deepEqual(await fixture.taken(), [])
      })
    }

    it('prevents injection of headers, recipients and parts', async () => {
      const nasty = fc.oneof(
        fc.string({ unit: codePoint, maxLength: 60 }),
        fc
          .array(
            fc.constantFrom(
              '\r\n',
              '\n',
              '\r',
              'Bcc: x@y.example',
              '\r\n\r\n',
              '"',
              '<',
              '>',
              ',',
              '=?utf-8?Q?=0D=0A?=',
              ' ',
            ),
            {
              maxLength: 8,
            },
          )
          .map((parts) => parts.join('')),
      )
      const expected = headerNames((await deliver(sample())).mail)
      await fc.assert(
        fc.asyncProperty(nasty, nasty, nasty, async (subject, name, body) => {
          const message = sample({
            subject,
            from: { name, address: 'noreply@net.example' },
            text: `x${body}`,
            html: `x${body}`,
          })
          try {
            await fixture.transport.send(message)
          } catch (error) {
            assert.ok(isKind('refused')(error), String(error))
            return
          }
          const [bytes] = await fixture.taken()
          const mail = await PostalMime.parse(bytes!)
          const names = headerNames(mail)
          assert.deepEqual(
            names,
            expected.filter((name) => name !== 'subject' || names.includes(name)),
          )
          assert.deepEqual(mail.to, [{ name: '', address: 'anna@customer.example' }])
          assert.equal(mail.from?.address, 'noreply@net.example')
          assert.equal(mail.attachments.length, 0)
        }),
        { numRuns: 100 },
      )
    })

    it('rejects a header of more than one line', async () => {
      for (const change of [
        { subject: 'a\r\nBcc: c@d.example' },
        { from: { name: 'a\nBcc: c@d.example', address: 'a@b.example' } },
        { replyTo: { name: '', address: 'a@b.example\nBcc: c@d.example' } },
        { id: 'a>\r\nBcc: c@d.example' },
      ])
        await assert.rejects(fixture.transport.send(sample(change)), isKind('refused'))
      assert.deepEqual(await fixture.taken(), [])
    })

    it('loads no file and no URL that a content contains', async () => {
      const path = { path: import.meta.filename } as unknown as string
      const href = { href: 'http://127.0.0.1:9/' } as unknown as string
      for (const html of [path, href]) await assert.rejects(fixture.transport.send(sample({ html })))
      assert.deepEqual(await fixture.taken(), [])
    })

    it('reports unreachable if its target does not exist', async () => {
      await assert.rejects(fixture.absent.send(sample()), isKind('unreachable'))
    })

    it('rejects mails after close, and can be closed twice', async () => {
      const other = fixture.connect()
      await other.send(sample())
      await other.close()
      await other.close()
      await fixture.taken()
      await assert.rejects(other.send(sample()), isKind('unreachable'))
      assert.deepEqual(await fixture.taken(), [])
      await fixture.transport.send(sample())
    })
  })
}

export function sample(change: Partial<MailMessage> = {}): MailMessage {
  return {
    id: 'mail-1.example',
    date: new Date('2026-01-31T12:00:00Z'),
    from: { name: 'Example Net', address: 'noreply@net.example' },
    replyTo: { name: 'Help', address: 'help@net.example' },
    to: 'anna@customer.example',
    subject: 'Your password was changed',
    text: 'Hello\n\nYour password was changed.',
    html: '<!doctype html><html><body><p>Your password was changed.</p></body></html>',
    ...change,
  }
}

export const isKind =
  (...kinds: readonly DriverErrorKind[]) =>
  (error: unknown): boolean =>
    error instanceof DriverError && kinds.includes(error.kind)

function headerNames({ headers }: Awaited<ReturnType<typeof PostalMime.parse>>): string[] {
  return headers
    .map(({ key }) => key)
    .filter((key) => !['received', 'return-path'].includes(key))
    .toSorted()
}
