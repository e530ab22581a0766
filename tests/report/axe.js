// Violations that axe-core finds on pages, at two widths: node axe.js CHROMIUM FOLDER PAGE ..., modules from FOLDER.
const { createRequire } = require("module");
const path = require("path");
const [chromium, folder, ...pages] = process.argv.slice(2);
const from = createRequire(path.join(folder, "package.json"));
const axe = require("fs").readFileSync(from.resolve("axe-core/axe.min.js"), "utf8");
const quiet = "sandbox,first-run".split(",").map((name) => `--no-${name}`);
const off = "gpu,quic,background-networking,component-update,sync".split(",").map((name) => `--disable-${name}`);

(async () => {
  const browser = await from("playwright-core").chromium.launch({ executablePath: chromium, args: [...quiet, ...off] });
  const found = [];
  for (const page of pages) {
    for (const width of [400, 1200]) {
      const context = await browser.newContext({ viewport: { width, height: 900 }, bypassCSP: true });
      const tab = await context.newPage();
      await tab.goto(`file://${page}`);
      await tab.evaluate(axe);
      const violations = await tab.evaluate(async () => {
        document.querySelectorAll("details").forEach((one) => (one.open = true));
        const { violations } = await axe.run(document);
        return violations.map((one) => `${one.id}: ${one.nodes[0].html.slice(0, 200)}`);
      });
      const wide = await tab.evaluate(() => document.documentElement.scrollWidth);
      await tab.screenshot({ path: page.replace(/\.html$/, `-${width}.png`), fullPage: true });
      found.push({ page: path.basename(page), width, wide, violations });
      await context.close();
    }
  }
  await browser.close();
  console.log(JSON.stringify(found));
})();
