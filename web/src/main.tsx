import { render } from "preact";
import "./look/look.css";
import "./look/parts.css";
import { App } from "./app.tsx";

render(<App />, document.getElementById("app")!);
