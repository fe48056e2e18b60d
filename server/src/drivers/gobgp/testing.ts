// For tests: a gRPC server with configured answers that a real daemon cannot be made to give. It does not implement BGP.
import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import type { DescMethod, DescService, Message } from '@bufbuild/protobuf'
import * as grpc from '@grpc/grpc-js'
import { type AddPathStreamRequest, GobgpApi } from './generated/gobgp_pb.js'

export type FakeGobgpd = {
  readonly address: string
  /** Every message of every received change. */
  readonly changes: AddPathStreamRequest[]
  /** The number of received calls, without queries of the identity. */
  readonly calls: () => number
  /** The number of calls that query the identity. */
  readonly probes: () => number
  readonly stop: () => void
}

type Behaviour = {
  /** Returns the reason to reject a stream at this message, or undefined. */
  readonly refuse?: (message: AddPathStreamRequest) => string | undefined
  /** Answers a list; without it no list ends. */
  readonly list?: (call: grpc.ServerWritableStream<unknown, unknown>) => void
  /** Serves another service than GoBGP 3.x's: only this method, with an empty answer. */
  readonly onlyMethod?: string
  readonly credentials?: grpc.ServerCredentials
  /** Default: a free one. */
  readonly port?: number
}

/** A server with the names of GoBGP 3.x. Listens on 127.0.0.1. */
export async function startFakeGobgpd(behaviour: Behaviour = {}): Promise<FakeGobgpd> {
  const server = new grpc.Server()
  const changes: AddPathStreamRequest[] = []
  let calls = 0
  let probes = 0
  if (behaviour.onlyMethod) {
    server.addService(
      { other: bytesMethod(behaviour.onlyMethod) },
      { other: (_: unknown, callback: grpc.sendUnaryData<Buffer>) => callback(null, Buffer.alloc(0)) },
    )
  } else {
    server.addService(serviceOf(GobgpApi), {
      getBgp: (_: unknown, callback: grpc.sendUnaryData<unknown>) => {
        probes++
        callback(null, { global: { asn: 64500, routerId: '192.0.2.1' } })
      },
      addPathStream: (
        call: grpc.ServerReadableStream<AddPathStreamRequest, unknown>,
        callback: grpc.sendUnaryData<unknown>,
      ) => {
        calls++
        let refused = false
        call.on('data', (message: AddPathStreamRequest) => {
          if (refused) return
          const reason = behaviour.refuse?.(message)
          if (reason === undefined) changes.push(message)
          else {
            refused = true
            callback({ code: grpc.status.UNKNOWN, details: reason })
          }
        })
        call.on('end', () => refused || callback(null, {}))
      },
      listPath: (call: grpc.ServerWritableStream<unknown, unknown>) => {
        calls++
        behaviour.list?.(call)
      },
    })
  }
  const port = await listen(server, behaviour.port ?? 0, behaviour.credentials)
  return {
    address: `127.0.0.1:${port}`,
    changes,
    calls: () => calls,
    probes: () => probes,
    stop: () => server.forceShutdown(),
  }
}

/** Resolves with the port; 0 selects a free port. */
export function listen(
  server: grpc.Server,
  port: number,
  credentials = grpc.ServerCredentials.createInsecure(),
): Promise<number> {
  return new Promise((resolve, reject) =>
    server.bindAsync(`127.0.0.1:${port}`, credentials, (error, port) =>
      error ? reject(error) : resolve(port),
    ),
  )
}

/** The methods of a service under their names in TypeScript; answers are given as plain objects. */
export function serviceOf(service: DescService): grpc.ServiceDefinition {
  return Object.fromEntries(
    service.methods.map((method) => [method.localName, methodOf(method)]),
  ) as grpc.ServiceDefinition
}

function methodOf({ name, parent, input, output, methodKind }: DescMethod) {
  return {
    path: `/${parent.typeName}/${name}`,
    requestStream: methodKind === 'client_streaming',
    responseStream: methodKind === 'server_streaming',
    requestSerialize: (message: Message) => Buffer.from(toBinary(input, message)),
    requestDeserialize: (octets: Buffer) => fromBinary(input, octets),
    responseSerialize: (message: Record<string, unknown>) =>
      Buffer.from(toBinary(output, create(output, message))),
    responseDeserialize: (octets: Buffer) => fromBinary(output, octets),
  }
}

/** A method of any name with octets as request and response. */
export function bytesMethod(path: string): grpc.MethodDefinition<Buffer, Buffer> {
  const same = (octets: Buffer): Buffer => octets
  return {
    path,
    requestStream: false,
    responseStream: false,
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
  }
}
