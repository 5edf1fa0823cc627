import type { ControllerEvents, EventRecorder, EventRecorderOptions } from "./recorder.ts";
export class EventSeries implements EventRecorder {
  readonly dropped = 0;
  constructor(_options: EventRecorderOptions) {}
  for(_controller: string): ControllerEvents {
    return { record() {} };
  }
  flush(): Promise<void> {
    return Promise.resolve();
  }
  close(): Promise<void> {
    return Promise.resolve();
  }
}
