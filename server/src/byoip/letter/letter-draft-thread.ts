// The thread that renders one letter to sign.
import { workerData } from 'node:worker_threads'
import { answerFromThread } from '../../runtime/thread.ts'
import { drawLetter, type LetterText } from './letter-draft-page.ts'

answerFromThread(drawLetter(workerData as LetterText))
