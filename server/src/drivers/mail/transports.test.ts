import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mailTransportConformance, type MailTransportFixture } from '../../mail/mail-transport.conformance.ts'
import { parseMailUrl } from './smtp-url.ts'
import { createFolderTransport } from './folder-transport.ts'
import { createSmtpTransport } from './smtp-transport.ts'
import { startSmtpServer } from './testing-smtp.ts'

mailTransportConformance('of SMTP', smtpFixture)
mailTransportConformance('of a folder', folderFixture)

async function smtpFixture(): Promise<MailTransportFixture> {
  const [server, nobody] = [await startSmtpServer(), await startSmtpServer()]
  nobody.setRelay('away')
  const to = ({ port }: { port: number }) => createSmtpTransport(parseMailUrl(`smtp://127.0.0.1:${port}`))
  const [transport, absent] = [to(server), to(nobody)]
  return {
    transport,
    connect: () => to(server),
    absent,
    taken: async () => server.mails.splice(0).map(({ bytes }) => bytes),
    async stop() {
      await Promise.all([transport.close(), absent.close()])
      await Promise.all([server.stop(), nobody.stop()])
    },
  }
}

async function folderFixture(): Promise<MailTransportFixture> {
  const root = await mkdtemp(join(tmpdir(), 'mails-'))
  const folder = join(root, 'data', 'mails')
  const file = join(root, 'file')
  await writeFile(file, '')
  return {
    transport: createFolderTransport(folder),
    connect: () => createFolderTransport(folder),
    absent: createFolderTransport(join(file, 'mails')),
    async taken() {
      const names = await readdir(folder).catch(() => [])
      const files = names.map((name) => join(folder, name))
      const bytes = await Promise.all(files.map((one) => readFile(one)))
      await Promise.all(files.map((one) => rm(one)))
      return bytes
    },
    stop: () => rm(root, { recursive: true, force: true }),
  }
}
