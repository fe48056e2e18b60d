// Decrypts the variables of pending mails, including tokens.
import type { MailContents, MailTemplate } from '../../src/mail/mail.ts'
import { open } from '../../src/runtime/secrets.ts'
import type { TestApi } from '../api.ts'

export type OpenedMail = {
  readonly [T in MailTemplate]: { readonly template: T; readonly content: MailContents[T] }
}[MailTemplate]

/** Returns the pending mails to the address, oldest first. */
export async function mailsTo({ database, config }: TestApi, email: string): Promise<OpenedMail[]> {
  const rows = await database.postgres.owner
    .selectFrom('mails')
    .select(['template', 'content_sealed'])
    .where('recipient', '=', email)
    .orderBy('id')
    .execute()
  return rows.map(({ template, content_sealed }) => ({
    template,
    content: JSON.parse(open(config.secret, 'mail', content_sealed!, template).toString()),
  })) as OpenedMail[]
}

export async function templatesTo(api: TestApi, email: string): Promise<string[]> {
  return (await mailsTo(api, email)).map(({ template }) => template)
}

/** Returns the token in the link of the newest mail of the template to the address. */
export async function tokenMailedTo(
  api: TestApi,
  email: string,
  template: 'confirm-email' | 'password-reset',
): Promise<string> {
  const mail = (await mailsTo(api, email)).findLast((one) => one.template === template)
  if (!mail || !('link' in mail.content)) throw new Error(`no ${template} mail to ${email}`)
  return new URL(mail.content.link).hash.slice(1)
}
