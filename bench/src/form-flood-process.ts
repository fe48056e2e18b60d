// Sends as many forms at once as it is told, from a process of its own, and reports the status of each answer; 0 without an answer.
import { once } from 'node:events'
import { connect } from 'node:net'
import type { FloodPlan } from './form-flood.ts'

const [message] = (await once(process, 'message')) as [FloodPlan]
process.send?.(await sendForms(message))
process.disconnect?.()

function sendForms({ url, path, forms, bytes }: FloodPlan): Promise<number[]> {
  const { hostname, port } = new URL(url)
  const body = Buffer.alloc(bytes, 'a')
  const head = `POST ${path} HTTP/1.1\r\nHost: pharos\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${bytes}\r\n\r\n`
  const sendForm = () =>
    new Promise<number>((resolve) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write(head)
        socket.write(body)
      })
      let text = ''
      socket.setEncoding('latin1').on('data', (part) => (text += String(part)))
      // A server that does not read the rest resets the connection.
      socket.on('error', () => {})
      socket.once('close', () => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0)))
      socket.setTimeout(60_000, () => socket.destroy())
    })
  return Promise.all(Array.from({ length: forms }, sendForm))
}
