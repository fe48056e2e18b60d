// The drivers of the port MailTransport, by the scheme of the URL in `mail_url`. A `mail_folder` is always a folder of files.
import type { MailTransport } from '../mail/mail-transport.ts'
import { urlDriverList } from './driver/url-driver.ts'
import { createFolderTransport } from './mail/folder-transport.ts'
import { smtp, type SmtpOptions } from './mail/smtp-transport.ts'

export const mailDrivers = urlDriverList('mail server', [smtp])

/** Returns the transport of the settings, not connected yet; undefined if neither is set. */
export function createMailTransport(
  { url, folder }: { readonly url: string | null; readonly folder: string | null },
  options: SmtpOptions = {},
): MailTransport | undefined {
  if (folder !== null) return createFolderTransport(folder)
  return url === null ? undefined : mailDrivers.create(url, options)
}
