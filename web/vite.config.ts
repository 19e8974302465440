// The page is built into the Python package, under names without hashes: the server sends an ETag with each file, and a
// rebuild of the same sources gives the same bytes.
import { defineConfig } from "vite";

export default defineConfig({
  base: "./",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "../src/treeplex/web/assets",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rolldownOptions: {
      output: {
        entryFileNames: "[name].js",
        chunkFileNames: "[name].js",
        assetFileNames: "[name][extname]",
      },
    },
  },
  server: { proxy: { "/api": { target: "http://127.0.0.1:8700", changeOrigin: true } } },
});
