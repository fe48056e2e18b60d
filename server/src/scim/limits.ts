// Limits of the SCIM interface.

/** Resources of a page. */
export const usersPerRequest = 200
export const usersByDefault = 100
/** Of a group with all of its members. */
export const bodyBytesMax = 2 * 1024 * 1024
/** Changes of one team wait for each other anyway, in a queue of this length, so that they do not occupy the connections of others. */
export const changesWaiting = 100
