// Short messages in the corner of the window, for results that have no place on the page.
import { notifications } from '@mantine/notifications'
import { problemText } from './problem-text.ts'

export function notifySuccess(message: string): void {
  notifications.show({ color: 'ok', message })
}

export function notifyFailure(message: string): void {
  notifications.show({ color: 'bad', message, autoClose: 10_000 })
}

/** Shows the problem of a request that a click started. */
export function notifyProblem(error: unknown): void {
  const { title, detail } = problemText(error)
  notifications.show({ color: 'bad', title, message: detail, autoClose: 10_000 })
}

/** Removes every message: they belong to the session that has ended. */
export function clearNotifications(): void {
  notifications.clean()
}
