// Limits of the SCIM interface.

/** Resources of a page. */
export const usersPerRequest = 200
export const usersByDefault = 100
/** Of a group with all of its members. */
export const bodyBytesMax = 2 * 1024 * 1024
/** Requests of one team wait in queues of this length, so that they do not occupy the connections of others: changes wait for each other anyway. */
export const requestsWaiting = 100
/** Of one team: a page of groups with all of their members has tens of megabytes. */
export const readsAtOnce = 2
