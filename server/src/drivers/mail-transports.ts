// The drivers of the port MailTransport, by the scheme of the URL in `mail_url`. A `mail_folder` is always a folder of files.
import type { MailTransport } from '../mail/mail-transport.ts'
import { createFolderTransport } from './mail/folder-transport.ts'
import { smtp, type SmtpOptions } from './mail/smtp-transport.ts'
import { driverFor } from './driver/url-driver.ts'

const drivers = [smtp]

/** Throws an Error if the URL is not valid; the message contains no password. */
export function checkMailTransport(url: string): void {
  driverFor(drivers, url).check(url)
}

/** Returns the transport, not connected yet; throws as checkMailTransport does, and if a PEM file cannot be read. */
export function createMailTransport(
  { url, folder }: { readonly url: string | null; readonly folder: string | null },
  options: SmtpOptions = {},
): MailTransport | undefined {
  if (folder !== null) return createFolderTransport(folder)
  return url === null ? undefined : driverFor(drivers, url).create(url, options)
}
