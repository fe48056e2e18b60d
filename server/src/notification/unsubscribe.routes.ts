// The page behind the link of a mail: GET only asks, since mail programs and scanners open links; POST ends the mails,
// from the button of the page or directly from a mail program (RFC 8058).
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Db } from '../db/postgres.ts'
import { messagePage, messagePagePolicy } from '../http/message-page.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import { unsubscribe } from './settings.ts'
import { parseUnsubscribeToken } from './unsubscribe.ts'

export type UnsubscribeDeps = { readonly db: Db; readonly ring: KeyRing; readonly now: () => Date }

const policy = messagePagePolicy.replace("form-action 'none'", "form-action 'self'")
const bodyBytesMax = 4_096

type Params = { Params: { token: string } }

export function addUnsubscribe(server: FastifyInstance, { db, ring, now }: UnsubscribeDeps): void {
  server.register(async (pages) => {
    // The body, of any form, is not read: the URL is sufficient.
    pages.removeAllContentTypeParsers()
    pages.addContentTypeParser(
      '*',
      { parseAs: 'buffer', bodyLimit: bodyBytesMax },
      (_request, _bytes, done) => done(null),
    )
    pages.get<Params>('/unsubscribe/:token', async ({ params }, reply) => {
      const subscription = parseUnsubscribeToken(ring, params.token, now())
      return subscription
        ? send(reply, 200, subscription.from === 'report' ? askingReport : asking)
        : send(reply, 404, invalid)
    })
    pages.post<Params>('/unsubscribe/:token', async ({ params }, reply) => {
      const subscription = parseUnsubscribeToken(ring, params.token, now())
      if (!subscription) return send(reply, 404, invalid)
      await unsubscribe(db, subscription, now())
      return send(reply, 200, subscription.from === 'report' ? doneReport : done)
    })
  })
}

type Page = { readonly title: string; readonly body: string }

const button = '<form method="post"><button type="submit">Unsubscribe</button></form>'
const asking: Page = {
  title: 'Unsubscribe from notifications',
  body: `<p>No more mails about notifications of this team will be sent to you. Mails about your account, such as password resets, are
still sent.</p>
${button}`,
}
const askingReport: Page = {
  title: 'Unsubscribe from the monthly report',
  body: `<p>The monthly report of this team will not be sent to you any more. Mails about attacks and other notifications are still
sent.</p>
${button}`,
}
const done: Page = {
  title: 'You are unsubscribed',
  body: '<p>No more mails about notifications of this team will be sent to you. You can change this in the <a href="/profile/notifications">settings of the portal</a>.</p>',
}
const doneReport: Page = {
  title: 'You are unsubscribed',
  body: '<p>The monthly report of this team will not be sent to you any more. You can change this in the <a href="/profile/notifications">settings of the portal</a>.</p>',
}
const invalid: Page = {
  title: 'This link does not work',
  body: '<p>The link is incomplete or has expired. Sign in and change the settings in the <a href="/profile/notifications">portal</a>.</p>',
}

function send(reply: FastifyReply, status: number, page: Page): FastifyReply {
  return reply
    .status(status)
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', policy)
    .serializer((text: unknown) => text as string)
    .send(messagePage(page))
}
