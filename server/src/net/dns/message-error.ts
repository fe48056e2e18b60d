// The error of a message that cannot be decoded. A server answers it with FORMERR and the id of `decodeHeader`.

export type MessageErrorReason =
  | 'truncated'
  | 'name'
  | 'pointer'
  | 'rdata'
  | 'opt'
  | 'tsig'
  | 'trailing'
  | 'length'

export class MessageError extends Error {
  readonly reason: MessageErrorReason

  constructor(reason: MessageErrorReason, message: string) {
    super(message)
    this.name = 'MessageError'
    this.reason = reason
  }
}
