// Loaded before a command of scripts/run.mjs: stops this process once its parent has ended in whatever way, SIGKILL
// included. The kernel closes the channel between them then.
if (process.channel) {
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  // Neither the channel nor its listener keeps the process alive.
  process.channel.unref()
}
