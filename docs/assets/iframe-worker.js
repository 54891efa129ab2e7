// The search runs in a worker, and browsers start none for pages that are opened as files.  There a
// hidden frame takes its place, so that the site works from a folder, without a server.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.documentElement.appendChild(frame);
      const inside = frame.contentWindow;
      const home = new URL(url, location.href);
      const load = (address) =>
        new Promise((resolve, reject) => {
          const script = inside.document.createElement("script");
          script.onload = resolve;
          script.onerror = () => reject(new Error(`cannot load ${address}`));
          script.src = new URL(address, home);
          inside.document.documentElement.appendChild(script);
        });
      inside.importScripts = (...addresses) =>
        addresses.reduce((loaded, address) => loaded.then(() => load(address)), Promise.resolve());
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.inside = inside;
      this.ready = load(home);
    }

    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      this.inside.frameElement.remove();
    }
  };
}
