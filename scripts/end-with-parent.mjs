// Loaded before a command of scripts/run.mjs: stops this process once its parent has ended for any reason, SIGKILL
// included, when the kernel closes the channel between them.
if (process.channel) {
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  // Neither the channel nor its listener keeps the process alive.
  process.channel.unref()
}
