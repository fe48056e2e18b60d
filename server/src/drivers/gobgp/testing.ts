// For tests: a gRPC server that answers as a test wants it, where no real daemon can be made to. It knows no BGP.
import { fromBinary, toBinary } from '@bufbuild/protobuf'
import type { DescMessage, MessageShape } from '@bufbuild/protobuf'
import * as grpc from '@grpc/grpc-js'
import { type AddPathStreamRequest, GobgpApi } from './generated/gobgp_pb.js'

export type FakeGobgpd = {
  readonly address: string
  /** Every message of every change that reached it. */
  readonly changes: AddPathStreamRequest[]
  /** How many calls of any kind reached it. */
  readonly calls: () => number
  readonly stop: () => void
}

type Behaviour = {
  /** The reason to refuse a stream at this message, or undefined. */
  readonly refuse?: (message: AddPathStreamRequest) => string | undefined
  /** Answers a list; without it no list ever ends. */
  readonly list?: (call: grpc.ServerWritableStream<unknown, unknown>) => void
  /** Serves another service than GoBGP 3.x's: only this method, with an empty answer. */
  readonly onlyMethod?: string
  readonly credentials?: grpc.ServerCredentials
}

/** Listens on a free port of 127.0.0.1. */
export async function startFakeGobgpd(behaviour: Behaviour = {}): Promise<FakeGobgpd> {
  const server = new grpc.Server()
  const changes: AddPathStreamRequest[] = []
  let calls = 0
  if (behaviour.onlyMethod) {
    server.addService(
      { other: bytesMethod(behaviour.onlyMethod) },
      { other: (_: unknown, callback: grpc.sendUnaryData<Buffer>) => callback(null, Buffer.alloc(0)) },
    )
  } else {
    const { addPathStream, listPath } = GobgpApi.method
    server.addService(
      {
        add: streamMethod('AddPathStream', addPathStream.input, addPathStream.output, true),
        list: streamMethod('ListPath', listPath.input, listPath.output, false),
      },
      {
        add: (
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
          call.on('end', () => refused || callback(null, { $typeName: addPathStream.output.typeName }))
        },
        list: (call: grpc.ServerWritableStream<unknown, unknown>) => {
          calls++
          behaviour.list?.(call)
        },
      },
    )
  }
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync(
      '127.0.0.1:0',
      behaviour.credentials ?? grpc.ServerCredentials.createInsecure(),
      (error, port) => (error ? reject(error) : resolve(port)),
    ),
  )
  return { address: `127.0.0.1:${port}`, changes, calls: () => calls, stop: () => server.forceShutdown() }
}

function streamMethod<I extends DescMessage, O extends DescMessage>(
  name: string,
  input: I,
  output: O,
  requestStream: boolean,
) {
  return {
    path: `/apipb.GobgpApi/${name}`,
    requestStream,
    responseStream: !requestStream,
    requestSerialize: (message: MessageShape<I>) => Buffer.from(toBinary(input, message)),
    requestDeserialize: (octets: Buffer) => fromBinary(input, octets),
    responseSerialize: (message: MessageShape<O>) => Buffer.from(toBinary(output, message)),
    responseDeserialize: (octets: Buffer) => fromBinary(output, octets),
  }
}

function bytesMethod(path: string): grpc.MethodDefinition<Buffer, Buffer> {
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
