// The number of unread notifications: requested once, then from the stream; polled while the stream is not connected.
import { listNotificationsRoute, readNotificationsRoute } from '@pharos/contract/messages/notification'
import type { NotificationsChangedData } from '@pharos/contract/messages/notification'
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { call } from '../api/call.ts'
import { answerOf, invalidate, queryClient, useLive } from '../api/queries.ts'
import { onMessage } from '../api/stream.ts'

const pollMs = 30_000
const unreadInput = { query: { unread: true, limit: 1 } }

/** Returns the number; undefined until it is known. A change of it refreshes visible lists of notifications. */
export function useUnread(): number | undefined {
  const isLive = useLive()
  const { data } = useQuery({
    ...answerOf(listNotificationsRoute, unreadInput),
    refetchInterval: isLive ? false : pollMs,
  })
  useEffect(
    () =>
      onMessage(({ type, message }) => {
        if (type === 'notifications.changed') takeState(message.data as NotificationsChangedData)
        if (type === 'reset') void invalidate(listNotificationsRoute)
      }),
    [],
  )
  return data?.count
}

/** Updates the number immediately, and requests the lists again. */
function takeState({ unread }: NotificationsChangedData): void {
  const { queryKey } = answerOf(listNotificationsRoute, unreadInput)
  queryClient.setQueryData(queryKey, (known) => known && { ...known, count: unread })
  void invalidate(listNotificationsRoute)
}

/** Marks everything up to the newest notification as read. */
export async function markAllRead(): Promise<void> {
  const newest = await queryClient.fetchQuery({
    ...answerOf(listNotificationsRoute, { query: { limit: 1 } }),
    staleTime: 0,
  })
  const id = newest.results[0]?.id
  if (id === undefined) return
  takeState((await call(readNotificationsRoute, { body: { up_to: id } })).body)
}
