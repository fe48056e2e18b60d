// The thread in which one PDF is read: it gets the bytes, says what is wrong with them, and ends.
import { workerData } from 'node:worker_threads'
import { answerFromThread } from '../../runtime/thread.ts'
import { refusalOfPdf } from './inspect-pdf.ts'

answerFromThread((await refusalOfPdf(Buffer.from(workerData as Uint8Array))) ?? null)
