import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { it } from 'node:test'
import { listenProblem } from './listen-problem.ts'

it('an address in use is named with the settings that change it', async () => {
  const server = createServer().listen(0, '::1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const [error] = await once(createServer().listen(port, '::1'), 'error')
  server.close()
  assert.match(
    listenProblem(error)!,
    new RegExp(`^\\[::1\\]:${port} is used by another program.*PHAROS_PORT`),
  )
})

it('so is one of another machine, also for UDP; other errors are not explained', async () => {
  const socket = createSocket('udp4')
  socket.bind(9, '192.0.2.1')
  const [error] = await once(socket, 'error')
  assert.match(listenProblem(error)!, /^192\.0\.2\.1:9 is not an address of this machine/)
  assert.equal(listenProblem(Object.assign(new Error(), { code: 'EACCES', syscall: 'open' })), undefined)
  assert.equal(listenProblem(new Error('listen')), undefined)
})
