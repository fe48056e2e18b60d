import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { it } from 'node:test'
import { listenBySetting, ListenError } from './listen-problem.ts'

it('an address in use is named with the setting that changes it', async () => {
  const server = createServer().listen(0, '::1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const listen = () => once(createServer().listen(port, '::1'), 'listening')
  await assert.rejects(
    listenBySetting('port', listen),
    new ListenError(`[::1]:${port} is used by another program: stop it, or set PHAROS_PORT to another port.`),
  )
  server.close()
})

it('so is one of another machine, also for UDP; other errors are not explained', async () => {
  const bind = () => once(createSocket('udp4').bind(9, '192.0.2.1'), 'listening')
  const message = (setting: string) =>
    new ListenError(`192.0.2.1:9 is not an address of this machine: set ${setting} to one.`)
  await assert.rejects(listenBySetting('dns_listen', bind), message('PHAROS_DNS_LISTEN'))
  await assert.rejects(listenBySetting('port', bind), message('PHAROS_HOST'))
  const other = Object.assign(new Error('no'), { code: 'EACCES', syscall: 'open' })
  await assert.rejects(
    listenBySetting('port', () => Promise.reject(other)),
    other,
  )
})
