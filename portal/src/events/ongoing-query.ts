// The query for ongoing events.

export const ongoingQuery = { ongoing: true, ordering: '-affected_bps', limit: 100 } as const
