// The thread in which one letter to sign is drawn.
import { workerData } from 'node:worker_threads'
import { answerFromThread } from '../../runtime/thread.ts'
import { drawLetter, type LetterText } from './letter-draft-page.ts'

answerFromThread(drawLetter(workerData as LetterText))
