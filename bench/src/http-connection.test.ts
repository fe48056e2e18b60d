import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net'
import { describe, it } from 'node:test'
import { ask, HttpConnection, renderRequest } from './http-connection.ts'

async function urlOf(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('the connection', () => {
  it('sends one request after the other and returns the bodies', async () => {
    const server = createServer((request, response) => {
      let body = ''
      request.on('data', (chunk: Buffer) => (body += String(chunk)))
      request.on('end', () => {
        const text = `${request.method} ${request.url} ${request.headers.authorization} ${body}`
        response.writeHead(201, { 'content-length': Buffer.byteLength(text) }).end(text)
      })
    })
    const connection = await HttpConnection.open(await urlOf(server))
    const post = { method: 'POST', path: '/a', authorization: 'Bearer x', body: '{"b":1}' }
    assert.deepEqual(await ask(connection, renderRequest('localhost', post)), {
      status: 201,
      body: 'POST /a Bearer x {"b":1}',
    })
    const get = renderRequest('localhost', { method: 'GET', path: '/c?d' })
    assert.equal((await ask(connection, get)).body, 'GET /c?d undefined ')
    connection.close()
    server.close()
  })

  it('reads an answer that arrives in pieces, wherever it is split', async () => {
    const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\npieces\u00e9!'
    const bytes = Buffer.from(answer)
    const server = createTcpServer((socket) => {
      socket.setNoDelay(true)
      socket.on('data', (request) => {
        const cut = Number(/GET \/(\d+)/.exec(String(request))![1])
        socket.write(bytes.subarray(0, cut))
        setTimeout(() => socket.write(bytes.subarray(cut)), 2)
      })
    })
    const connection = await HttpConnection.open(await urlOf(server))
    for (let cut = 1; cut < bytes.length; cut += 1) {
      const get = renderRequest('localhost', { method: 'GET', path: `/${cut}` })
      assert.deepEqual(await ask(connection, get), { status: 200, body: 'pieces\u00e9!' })
    }
    connection.close()
    server.close()
  })
})
