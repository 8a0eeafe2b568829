// Made by coordinator/web/page/build of sources 6984fb534b8c355691f766f08b8359b088353d671b5dadd2aa6017a09b208a5e
/* It holds uPlot:
The MIT License (MIT)

Copyright (c) 2022 Leon Sorokin

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in
all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN
THE SOFTWARE.
*/
"use strict";(()=>{function N(e,t={},...s){let l=document.createElement(e);for(let[o,u]of Object.entries(t))l.setAttribute(
o,u);return l.append(...s),l}function Se(e,t){e.textContent!==t&&(e.textContent=t)}var Nt=class{constructor(t,s,l){
this.name=t;this.empty=N("p",{class:"note"},l);let o=N("tr",{},...s.map(c=>N("th",{scope:"col"},c))),
u=N("table",{},N("thead",{},o),this.body);this.box=N("section",{class:"list"},N("h2",{},this.title),
N("div",{class:"scroll"},u),this.empty,this.note),Se(this.title,t),this.empty.hidden=this.note.hidden=
u.hidden=!0}name;box;body=N("tbody");empty;note=N("p",{class:"note"});title=N("span");rows=new Map;show(t,s=""){
Se(this.title,t.length>0?`${this.name} (${t.length})`:this.name),this.empty.hidden=t.length>0,this.body.
parentElement.hidden=t.length===0,this.note.hidden=s==="",Se(this.note,s);let l=new Set(t.map(o=>o.key));
for(let[o,u]of this.rows)l.has(o)||(u.remove(),this.rows.delete(o));t.forEach((o,u)=>this.showRow(o,
u))}showRow(t,s){let l=this.rows.get(t.key);if(!l){l=N("tr");for(let o of t.cells)l.append(N("td"));
t.link&&l.cells[0].append(N("a",{href:t.link,"data-row":""})),this.rows.set(t.key,l)}t.cells.forEach(
(o,u)=>{let c=l.cells[u];Se(u===0&&t.link?c.firstChild:c,o)}),l.dataset.state=t.state??"",this.body.
children[s]!==l&&this.body.insertBefore(l,this.body.children[s]??null)}},Ql=class{box=N("dl");values=new Map;show(t){
let s=t.map(([l])=>l);if([...this.values.keys()].join()!==s.join()){this.values.clear(),this.box.replaceChildren();
for(let l of s){let o=N("dd");this.values.set(l,o),this.box.append(N("div",{},N("dt",{},l),o))}}for(let[
l,o]of t)Se(this.values.get(l),o)}},Nl=class{box;list=N("ul");constructor(t,s){this.box=N("section",
{class:s},N("h3",{},t),this.list)}show(t){for(this.box.hidden=t.length===0;this.list.children.length>
t.length;)this.list.lastChild.remove();t.forEach((s,l)=>{this.list.children[l]||this.list.append(N("\
li")),Se(this.list.children[l],s)})}};var Rr=new TextDecoder;function us(e){return e?Rr.decode(Uint8Array.from(atob(e),t=>t.charCodeAt(0))):
""}function _e(e){return us(e).replace(/[\p{Cc}\p{Bidi_Control}]/gu,"?")}function B(e){return e===void 0?
0:Number(e)}function Si(e,t){let[s,l]=t.find(([c])=>e>=c)??t[t.length-1],o=e/s,u=o>=100||Number.isInteger(
o)?0:o>=10?1:2;return`${o.toFixed(u)} ${l}`}function Ge(e){if(e>=12e10){let t=Math.floor(e/1e9),s=Math.
floor(t/3600),l=Math.floor(t%3600/60);return(s>0?`${s} h ${l} min`:`${l} min ${t%60} s`).replaceAll(
" "," ")}return Si(e,[[1e9,"s"],[1e6,"ms"],[1e3,"µs"],[1,"ns"]])}function Kt(e){return Si(e,[[2**40,
"TiB"],[2**30,"GiB"],[2**20,"MiB"],[2**10,"KiB"],[1,"B"]])}function st(e){return e.toLocaleString("e\
n").replace(/,/g," ")}function bn(e){return`${(100*e).toFixed(e>0&&e<.1?1:0)} %`}function Ct(e){return e===
0?"–":new Date(e).toLocaleTimeString("en-GB")}function ki(e){let t=[];for(let s=0;s<e.length;){let l=s;
for(;e[l+1]===e[l]+1;)l+=1;t.push(l>s?`${e[s]}–${e[l]}`:`${e[s]}`),s=l+1}return t.join(", ")}var $r={NODE_UP:"● up",NODE_DRAINED:"◌ drained",NODE_LOST:"✕ lost",NODE_RESTING:"◐ resting",
NODE_CONNECTING:"◔ connecting",WAITING:"… waiting",RUNNING:"▶ running",ENDING:"◑ ending",RECOVERING:"\
↺ recovering",SUSPENDED:"‖ suspended",SUCCEEDED:"✓ succeeded",FAILED:"✕ failed",CANCELLED:"–\
 cancelled"};function Xl(e){return($r[e??""]??e??"").replace(" "," ")}function cs(e,t){return B(e.next)===
0?"":`The newest ${t}; \`bsp jobs\` lists all.`}function ps(e){return _e(e.spec?.name)||_e(e.spec?.program?.
name)||"job"}function fs(e,t){let s=String(e.job??0);return{key:s,link:`#job=${s}`,state:e.state??"",
cells:[`${s} ${ps(e)}`,_e(e.spec?.user),String(e.spec?.nprocs??0),...t]}}function zr(e){let t=new Map,
s=[];for(let{spec:u}of e){let c=u?.accounts??"";(c==="own:everybody"||c.startsWith("fixed:"))&&t.set(
c,[...t.get(c)??[],_e(u?.name)]),u?.limits==="none"&&s.push(_e(u.name))}let l=u=>u.length>1&&u.length===
e.length?"all nodes":u.join(", "),o=[...t].map(([u,c])=>`${u} on ${l(c)}: the programs of all users \
run there as one account, and can reach each other's files and processes.`);return s.length>0&&o.push(
`No limits on ${l(s)}: no control group limits what jobs take there of memory, processes and process\
ors.`),o.join(" ")}var xn=class{box;nodes=new Nt("Nodes",["node","state","slots","load","jobs"],"No \
worker has registered yet.");running=new Nt("Running",["job","user","p","state","supersteps","time"],
"Nothing runs.");waiting=new Nt("Queue",["job","user","p","why it waits"],"Nothing waits.");ended=new Nt(
"Ended",["job","user","p","state","time"],"Nothing has ended yet.");constructor(){this.box=N("nav",{
"aria-label":"The cluster"},this.running.box,this.waiting.box,this.nodes.box,this.ended.box),this.box.
addEventListener("keydown",t=>this.onKey(t))}showNodes(t){this.nodes.show(t.map(s=>({key:_e(s.spec?.
name),state:s.state??"",cells:[_e(s.spec?.name),Xl(s.state)+(s.reason?`: ${_e(s.reason)}`:""),`${s.slotsUsed??
0} of ${s.spec?.slots??0}`,(s.load??0).toFixed(1),(s.jobs??[]).join(", ")]})),zr(t))}showJobs(t){let s=t.
running.jobs??[],l=[...t.waiting.jobs??[]].reverse(),o=t.ended.jobs??[];this.running.show(s.map(u=>fs(
u,[Xl(u.state),st(B(u.totals?.supersteps)),Ge(B(u.runMs)*1e6)])),cs(t.running,s.length)),this.waiting.
show(l.map(u=>fs(u,[_e(u.reason)])),cs(t.waiting,l.length)),this.ended.show(o.map(u=>fs(u,[Xl(u.state),
Ge(B(u.runMs)*1e6)])),cs(t.ended,o.length))}focus(t){this.box.querySelector(`a[href="#job=${t}"]`)?.
focus()}onKey(t){let s={ArrowDown:1,ArrowUp:-1}[t.key];if(s===void 0)return;let l=[...this.box.querySelectorAll(
"a[data-row]")],o=l[l.indexOf(document.activeElement)+s];o&&(t.preventDefault(),o.focus())}};var Hr="uplot",Fr="u-hz",Vr="u-vt",Ir="u-title",Wr="u-wrap",Gr="u-under",Ur="u-over",Br="u-axis",al="\
u-off",Yr="u-select",Kr="u-cursor-x",Jr="u-cursor-y",qr="u-cursor-pt",jr="u-legend",Zr="u-live",Qr="\
u-inline",Xr="u-series",ea="u-marker",_i="u-label",ta="u-value",tn="width",ln="height";var Ei="bottom",Cl="left",hs="right",Ps="#000",Ti=Ps+"0",ds="mousemove",Mi="mousedown",ms="mouseup",
Li="mouseenter",Ai="mouseleave",Pi="dblclick",la="resize",na="scroll",Di="change",_n="dppxchange",Ds="\
--",Vl=typeof window<"u",vs=Vl?document:null,Rl=Vl?window:null,sa=Vl?navigator:null,re,vn;function ys(){
let e=devicePixelRatio;re!=e&&(re=e,vn&&ks(Di,vn,ys),vn=matchMedia(`(min-resolution: ${re-.001}dppx)\
 and (max-resolution: ${re+.001}dppx)`),ul(Di,vn,ys),Rl.dispatchEvent(new CustomEvent(_n)))}function it(e,t){
if(t!=null){let s=e.classList;!s.contains(t)&&s.add(t)}}function Ss(e,t){let s=e.classList;s.contains(
t)&&s.remove(t)}function be(e,t,s){e.style[t]=s+"px"}function St(e,t,s,l){let o=vs.createElement(e);
return t!=null&&it(o,t),s?.insertBefore(o,l),o}function mt(e,t){return St("div",e,t)}var Ni=new WeakMap;
function Ot(e,t,s,l,o){let u="translate("+t+"px,"+s+"px)",c=Ni.get(e);u!=c&&(e.style.transform=u,Ni.
set(e,u),t<0||s<0||t>l||s>o?it(e,al):Ss(e,al))}var Ci=new WeakMap;function Oi(e,t,s){let l=t+s,o=Ci.
get(e);l!=o&&(Ci.set(e,l),e.style.background=t,e.style.borderColor=s)}var Ri=new WeakMap;function $i(e,t,s,l){
let o=t+""+s,u=Ri.get(e);o!=u&&(Ri.set(e,o),e.style.height=s+"px",e.style.width=t+"px",e.style.marginLeft=
l?-t/2+"px":0,e.style.marginTop=l?-s/2+"px":0)}var Ns={passive:!0},ia={...Ns,capture:!0};function ul(e,t,s,l){
t.addEventListener(e,s,l?ia:Ns)}function ks(e,t,s,l){t.removeEventListener(e,s,Ns)}Vl&&ys();function kt(e,t,s,l){
let o;s=s||0,l=l||t.length-1;let u=l<=2147483647;for(;l-s>1;)o=u?s+l>>1:ot((s+l)/2),t[o]<e?s=o:l=o;return e-
t[s]<=t[l]-e?s:l}function co(e){return(s,l,o)=>{let u=-1,c=-1;for(let p=l;p<=o;p++)if(e(s[p])){u=p;break}
for(let p=o;p>=l;p--)if(e(s[p])){c=p;break}return[u,c]}}var fo=e=>e!=null,po=e=>e!=null&&e>0,Mn=co(fo),
oa=co(po);function ra(e,t,s,l=0,o=!1){let u=o?oa:Mn,c=o?po:fo;[t,s]=u(e,t,s);let p=e[t],h=e[t];if(t>
-1)if(l==1)p=e[t],h=e[s];else if(l==-1)p=e[s],h=e[t];else for(let m=t;m<=s;m++){let x=e[m];c(x)&&(x<
p?p=x:x>h&&(h=x))}return[p??pe,h??-pe]}function Ln(e,t,s,l){let o=Fi(e),u=Fi(t);e==t&&(o==-1?(e*=s,t/=
s):(e/=s,t*=s));let c=s==10?Ht:ho,p=o==1?ot:gt,h=u==1?gt:ot,m=p(c(Ne(e))),x=h(c(Ne(t))),g=$l(s,m),w=$l(
s,x);return s==10&&(m<0&&(g=he(g,-m)),x<0&&(w=he(w,-x))),l||s==2?(e=g*o,t=w*u):(e=bo(e,g),t=An(t,w)),
[e,t]}function Cs(e,t,s,l){let o=Ln(e,t,s,l);return e==0&&(o[0]=0),t==0&&(o[1]=0),o}var Os=.1,zi={mode:3,
pad:Os},sn={pad:0,soft:null,mode:0},aa={min:sn,max:sn};function En(e,t,s,l){return Pn(s)?Hi(e,t,s):(sn.
pad=s,sn.soft=l?0:null,sn.mode=l?3:0,Hi(e,t,aa))}function ie(e,t){return e??t}function ua(e,t,s){for(t=
ie(t,0),s=ie(s,e.length-1);t<=s;){if(e[t]!=null)return!0;t++}return!1}function Hi(e,t,s){let l=s.min,
o=s.max,u=ie(l.pad,0),c=ie(o.pad,0),p=ie(l.hard,-pe),h=ie(o.hard,pe),m=ie(l.soft,pe),x=ie(o.soft,-pe),
g=ie(l.mode,0),w=ie(o.mode,0),D=t-e,P=Ht(D),H=qe(Ne(e),Ne(t)),V=Ht(H),W=Ne(V-P);(D<1e-24||W>10)&&(D=
0,(e==0||t==0)&&(D=1e-24,g==2&&m!=pe&&(u=0),w==2&&x!=-pe&&(c=0)));let S=D||H||1e3,F=Ht(S),k=$l(10,ot(
F)),j=S*(D==0?e==0?.1:1:u),A=he(bo(e-j,k/10),24),Z=e>=m&&(g==1||g==3&&A<=m||g==2&&A>=m)?m:pe,K=qe(p,
A<Z&&e>=Z?Z:_t(Z,A)),ee=S*(D==0?t==0?.1:1:c),Y=he(An(t+ee,k/10),24),_=t<=x&&(w==1||w==3&&Y>=x||w==2&&
Y<=x)?x:-pe,q=_t(h,Y>_&&t<=_?_:qe(_,Y));return K==q&&K==0&&(q=100),[K,q]}var ca=new Intl.NumberFormat(
Vl?sa.language:"en-US"),Rs=e=>ca.format(e),rt=Math,kn=rt.PI,Ne=rt.abs,ot=rt.floor,De=rt.round,gt=rt.
ceil,_t=rt.min,qe=rt.max,$l=rt.pow,Fi=rt.sign,Ht=rt.log10,ho=rt.log2,fa=(e,t=1)=>rt.sinh(e)*t,gs=(e,t=1)=>rt.
asinh(e/t),pe=1/0;function Vi(e){return(Ht((e^e>>31)-(e>>31))|0)+1}function _s(e,t,s){return _t(qe(e,
t),s)}function mo(e){return typeof e=="function"}function te(e){return mo(e)?e:()=>e}var pa=()=>{},go=e=>e,
wo=(e,t)=>t,ha=e=>null,Ii=e=>!0,Wi=(e,t)=>e==t,da=/\.\d*?(?=9{6,}|0{6,})/gm,cl=e=>{if(vo(e)||qt.has(
e))return e;let t=`${e}`,s=t.match(da);if(s==null)return e;let l=s[0].length-1;if(t.indexOf("e-")!=-1){
let[o,u]=t.split("e");return+`${cl(o)}e${u}`}return he(e,l)};function ol(e,t){return cl(he(cl(e/t))*
t)}function An(e,t){return cl(gt(cl(e/t))*t)}function bo(e,t){return cl(ot(cl(e/t))*t)}function he(e,t=0){
if(vo(e))return e;let s=10**t,l=e*s*(1+Number.EPSILON);return De(l)/s}var qt=new Map;function xo(e){
return((""+e).split(".")[1]||"").length}function rn(e,t,s,l){let o=[],u=l.map(xo);for(let c=t;c<s;c++){
let p=Ne(c),h=he($l(e,c),p);for(let m=0;m<l.length;m++){let x=e==10?+`${l[m]}e${c}`:l[m]*h,g=(c>=0?0:
p)+(c>=u[m]?0:u[m]),w=e==10?x:he(x,g);o.push(w),qt.set(w,g)}}return o}var on={},$s=[],zl=[null,null],
Jt=Array.isArray,vo=Number.isInteger,ma=e=>e===void 0;function Gi(e){return typeof e=="string"}function Pn(e){
let t=!1;if(e!=null){let s=e.constructor;t=s==null||s==Object}return t}function ga(e){return e!=null&&
typeof e=="object"}var wa=Object.getPrototypeOf(Uint8Array),yo="__proto__";function Hl(e,t=Pn){let s;
if(Jt(e)){let l=e.find(o=>o!=null);if(Jt(l)||t(l)){s=Array(e.length);for(let o=0;o<e.length;o++)s[o]=
Hl(e[o],t)}else s=e.slice()}else if(e instanceof wa)s=e.slice();else if(t(e)){s={};for(let l in e)l!=
yo&&(s[l]=Hl(e[l],t))}else s=e;return s}function Le(e){let t=arguments;for(let s=1;s<t.length;s++){let l=t[s];
for(let o in l)o!=yo&&(Pn(e[o])?Le(e[o],Hl(l[o])):e[o]=Hl(l[o]))}return e}var ba=0,xa=1,va=2;function ya(e,t,s){
for(let l=0,o,u=-1;l<t.length;l++){let c=t[l];if(c>u){for(o=c-1;o>=0&&e[o]==null;)e[o--]=null;for(o=
c+1;o<s&&e[o]==null;)e[u=o++]=null}}}function Sa(e,t){if(Ea(e)){let c=e[0].slice();for(let p=1;p<e.length;p++)
c.push(...e[p].slice(1));return Ta(c[0])||(c=_a(c)),c}let s=new Set;for(let c=0;c<e.length;c++){let h=e[c][0],
m=h.length;for(let x=0;x<m;x++)s.add(h[x])}let l=[Array.from(s).sort((c,p)=>c-p)],o=l[0].length,u=new Map;
for(let c=0;c<o;c++)u.set(l[0][c],c);for(let c=0;c<e.length;c++){let p=e[c],h=p[0];for(let m=1;m<p.length;m++){
let x=p[m],g=Array(o).fill(void 0),w=t?t[c][m]:xa,D=[];for(let P=0;P<x.length;P++){let H=x[P],V=u.get(
h[P]);H===null?w!=ba&&(g[V]=H,w==va&&D.push(V)):g[V]=H}ya(g,D,o),l.push(g)}}return l}var ka=typeof queueMicrotask>
"u"?e=>Promise.resolve().then(e):queueMicrotask;function _a(e){let t=e[0],s=t.length,l=Array(s);for(let u=0;u<
l.length;u++)l[u]=u;l.sort((u,c)=>t[u]-t[c]);let o=[];for(let u=0;u<e.length;u++){let c=e[u],p=Array(
s);for(let h=0;h<s;h++)p[h]=c[l[h]];o.push(p)}return o}function Ea(e){let t=e[0][0],s=t.length;for(let l=1;l<
e.length;l++){let o=e[l][0];if(o.length!=s)return!1;if(o!=t){for(let u=0;u<s;u++)if(o[u]!=t[u])return!1}}
return!0}function Ta(e,t=100){let s=e.length;if(s<=1)return!0;let l=0,o=s-1;for(;l<=o&&e[l]==null;)l++;
for(;o>=l&&e[o]==null;)o--;if(o<=l)return!0;let u=qe(1,ot((o-l+1)/t));for(let c=e[l],p=l+u;p<=o;p+=u){
let h=e[p];if(h!=null){if(h<=c)return!1;c=h}}return!0}var So=["January","February","March","April","\
May","June","July","August","September","October","November","December"],ko=["Sunday","Monday","Tues\
day","Wednesday","Thursday","Friday","Saturday"];function _o(e){return e.slice(0,3)}var Ma=ko.map(_o),
La=So.map(_o),Aa={MMMM:So,MMM:La,WWWW:ko,WWW:Ma};function en(e){return(e<10?"0":"")+e}function Pa(e){
return(e<10?"00":e<100?"0":"")+e}var Da={YYYY:e=>e.getFullYear(),YY:e=>(e.getFullYear()+"").slice(2),
MMMM:(e,t)=>t.MMMM[e.getMonth()],MMM:(e,t)=>t.MMM[e.getMonth()],MM:e=>en(e.getMonth()+1),M:e=>e.getMonth()+
1,DD:e=>en(e.getDate()),D:e=>e.getDate(),WWWW:(e,t)=>t.WWWW[e.getDay()],WWW:(e,t)=>t.WWW[e.getDay()],
HH:e=>en(e.getHours()),H:e=>e.getHours(),h:e=>{let t=e.getHours();return t==0?12:t>12?t-12:t},AA:e=>e.
getHours()>=12?"PM":"AM",aa:e=>e.getHours()>=12?"pm":"am",a:e=>e.getHours()>=12?"p":"a",mm:e=>en(e.getMinutes()),
m:e=>e.getMinutes(),ss:e=>en(e.getSeconds()),s:e=>e.getSeconds(),fff:e=>Pa(e.getMilliseconds())};function zs(e,t){
t=t||Aa;let s=[],l=/\{([a-z]+)\}|[^{]+/gi,o;for(;o=l.exec(e);)s.push(o[0][0]=="{"?Da[o[1]]:o[0]);return u=>{
let c="";for(let p=0;p<s.length;p++)c+=typeof s[p]=="string"?s[p]:s[p](u,t);return c}}var Na=new Intl.
DateTimeFormat().resolvedOptions().timeZone;function Ca(e,t){let s;return t=="UTC"||t=="Etc/UTC"?s=new Date(
+e+e.getTimezoneOffset()*6e4):t==Na?s=e:(s=new Date(e.toLocaleString("en-US",{timeZone:t})),s.setMilliseconds(
e.getMilliseconds())),s}var Eo=e=>e%1==0,Tn=[1,2,2.5,5],Oa=rn(10,-32,0,Tn),To=rn(10,0,32,Tn),Ra=To.filter(
Eo),rl=Oa.concat(To),Hs=`
`,Mo="{YYYY}",Ui=Hs+Mo,Lo="{M}/{D}",nn=Hs+Lo,yn=nn+"/{YY}",Ao="{aa}",$a="{h}:{mm}",Ol=$a+Ao,Bi=Hs+Ol,
Yi=":{ss}",ue=null;function Po(e){let t=e*1e3,s=t*60,l=s*60,o=l*24,u=o*30,c=o*365,h=(e==1?rn(10,0,3,
Tn).filter(Eo):rn(10,-3,0,Tn)).concat([t,t*5,t*10,t*15,t*30,s,s*5,s*10,s*15,s*30,l,l*2,l*3,l*4,l*6,l*
8,l*12,o,o*2,o*3,o*4,o*5,o*6,o*7,o*8,o*9,o*10,o*15,u,u*2,u*3,u*4,u*6,c,c*2,c*5,c*10,c*25,c*50,c*100]),
m=[[c,Mo,ue,ue,ue,ue,ue,ue,1],[o*28,"{MMM}",Ui,ue,ue,ue,ue,ue,1],[o,Lo,Ui,ue,ue,ue,ue,ue,1],[l,"{h}"+
Ao,yn,ue,nn,ue,ue,ue,1],[s,Ol,yn,ue,nn,ue,ue,ue,1],[t,Yi,yn+" "+Ol,ue,nn+" "+Ol,ue,Bi,ue,1],[e,Yi+".\
{fff}",yn+" "+Ol,ue,nn+" "+Ol,ue,Bi,ue,1]];function x(g){return(w,D,P,H,V,W)=>{let S=[],F=V>=c,k=V>=
u&&V<c,j=g(P),A=he(j*e,3),Z=ws(j.getFullYear(),F?0:j.getMonth(),k||F?1:j.getDate()),K=he(Z*e,3);if(k||
F){let ee=k?V/u:0,Y=F?V/c:0,_=A==K?A:he(ws(Z.getFullYear()+Y,Z.getMonth()+ee,1)*e,3),q=new Date(De(_/
e)),C=q.getFullYear(),G=q.getMonth();for(let z=0;_<=H;z++){let le=ws(C+Y*z,G+ee*z,1),$=le-g(he(le*e,
3));_=he((+le+$)*e,3),_<=H&&S.push(_)}}else{let ee=V>=o?o:V,Y=ot(P)-ot(A),_=K+Y+An(A-K,ee);S.push(_);
let q=g(_),C=q.getHours()+q.getMinutes()/s+q.getSeconds()/l,G=V/l,z=w.axes[D]._space,le=W/z;for(;_=he(
_+V,e==1?0:3),!(_>H);)if(G>1){let $=ot(he(C+G,6))%24,ne=g(_).getHours()-$;ne>1&&(ne=-1),_-=ne*l,C=(C+
G)%24;let ce=S[S.length-1];he((_-ce)/V,3)*le>=.7&&S.push(_)}else S.push(_)}return S}}return[h,m,x]}var[
za,Ha,Fa]=Po(1),[Va,Ia,Wa]=Po(.001);rn(2,-53,53,[1]);function Ki(e,t){return e.map(s=>s.map((l,o)=>o==
0||o==8||l==null?l:t(o==1||s[8]==0?l:s[1]+l)))}function Ji(e,t){return(s,l,o,u,c)=>{let p=t.find(P=>c>=
P[0])||t[t.length-1],h,m,x,g,w,D;return l.map(P=>{let H=e(P),V=H.getFullYear(),W=H.getMonth(),S=H.getDate(),
F=H.getHours(),k=H.getMinutes(),j=H.getSeconds(),A=V!=h&&p[2]||W!=m&&p[3]||S!=x&&p[4]||F!=g&&p[5]||k!=
w&&p[6]||j!=D&&p[7]||p[1];return h=V,m=W,x=S,g=F,w=k,D=j,A(H)})}}function Ga(e,t){let s=zs(t);return(l,o,u,c,p)=>o.
map(h=>s(e(h)))}function ws(e,t,s){return new Date(e,t,s)}function qi(e,t){return t(e)}var Ua="{YYYY\
}-{MM}-{DD} {h}:{mm}{aa}";function ji(e,t){return(s,l,o,u)=>u==null?Ds:t(e(l))}function Ba(e,t){let s=e.
series[t];return s.width?s.stroke(e,t):s.points.width?s.points.stroke(e,t):null}function Ya(e,t){return e.
series[t].fill(e,t)}var Ka={show:!0,live:!0,isolate:!1,mount:pa,markers:{show:!0,width:2,stroke:Ba,fill:Ya,
dash:"solid"},idx:null,idxs:null,values:[]};function Ja(e,t){let s=e.cursor.points,l=mt(),o=s.size(e,
t);be(l,tn,o),be(l,ln,o);let u=o/-2;be(l,"marginLeft",u),be(l,"marginTop",u);let c=s.width(e,t,o);return c&&
be(l,"borderWidth",c),l}function qa(e,t){let s=e.series[t].points;return s._fill||s._stroke}function ja(e,t){
let s=e.series[t].points;return s._stroke||s._fill}function Za(e,t){return e.series[t].points.size}var bs=[
0,0];function Qa(e,t,s){return bs[0]=t,bs[1]=s,bs}function Sn(e,t,s,l=!0){return o=>{o.button==0&&(!l||
o.target==t)&&s(o)}}function xs(e,t,s,l=!0){return o=>{(!l||o.target==t)&&s(o)}}var Xa={show:!0,x:!0,
y:!0,lock:!1,move:Qa,points:{one:!1,show:Ja,size:Za,width:0,stroke:ja,fill:qa},bind:{mousedown:Sn,mouseup:Sn,
click:Sn,dblclick:Sn,mousemove:xs,mouseleave:xs,mouseenter:xs},drag:{setScale:!0,x:!0,y:!1,dist:0,uni:null,
click:(e,t)=>{t.stopPropagation(),t.stopImmediatePropagation()},_x:!1,_y:!1},focus:{dist:(e,t,s,l,o)=>l-
o,prox:-1,bias:0},hover:{skip:[void 0],prox:null,bias:0},left:-10,top:-10,idx:null,dataIdx:null,idxs:null,
event:null},Do={show:!0,stroke:"rgba(0,0,0,0.07)",width:2},Fs=Le({},Do,{filter:wo}),No=Le({},Fs,{size:10}),
Co=Le({},Do,{show:!1}),Vs='12px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Aria\
l, "Noto Sans", sans-serif, "Apple Color Emoji", "Segoe UI Emoji", "Segoe UI Symbol", "Noto Color Em\
oji"',Oo="bold "+Vs,Ro=1.5,Zi={show:!0,scale:"x",stroke:Ps,space:50,gap:5,alignTo:1,size:50,labelGap:0,
labelSize:30,labelFont:Oo,side:2,grid:Fs,ticks:No,border:Co,font:Vs,lineGap:Ro,rotate:0},eu="Value",
tu="Time",Qi={show:!0,scale:"x",auto:!1,sorted:1,min:pe,max:-pe,idxs:[]};function lu(e,t,s,l,o){return t.
map(u=>u==null?"":Rs(u))}function nu(e,t,s,l,o,u,c){let p=[],h=qt.get(o)||0;s=c?s:he(An(s,o),h);for(let m=s;m<=
l;m=he(m+o,h))p.push(Object.is(m,-0)?0:m);return p}function Es(e,t,s,l,o,u,c){let p=[],h=e.scales[e.
axes[t].scale].log,m=h==10?Ht:ho,x=ot(m(s));o=$l(h,x),h==10&&(o=rl[kt(o,rl)]);let g=s,w=o*h;h==10&&(w=
rl[kt(w,rl)]);do p.push(g),g=g+o,h==10&&!qt.has(g)&&(g=he(g,qt.get(o))),g>=w&&(o=g,w=o*h,h==10&&(w=rl[kt(
w,rl)]));while(g<=l);return p}function su(e,t,s,l,o,u,c){let h=e.scales[e.axes[t].scale].asinh,m=l>h?
Es(e,t,qe(h,s),l,o):[h],x=l>=0&&s<=0?[0]:[];return(s<-h?Es(e,t,qe(h,-l),-s,o):[h]).reverse().map(w=>-w).
concat(x,m)}var $o=/./,iu=/[12357]/,ou=/[125]/,Xi=/1/,Ts=(e,t,s,l)=>e.map((o,u)=>t==4&&o==0||u%l==0&&
s.test(o.toExponential()[o<0?1:0])?o:null);function ru(e,t,s,l,o){let u=e.axes[s],c=u.scale,p=e.scales[c],
h=e.valToPos,m=u._space,x=h(10,c),g=h(9,c)-x>=m?$o:h(7,c)-x>=m?iu:h(5,c)-x>=m?ou:Xi;if(g==Xi){let w=Ne(
h(1,c)-x);if(w<m)return Ts(t.slice().reverse(),p.distr,g,gt(m/w)).reverse()}return Ts(t,p.distr,g,1)}
function au(e,t,s,l,o){let u=e.axes[s],c=u.scale,p=u._space,h=e.valToPos,m=Ne(h(1,c)-h(2,c));return m<
p?Ts(t.slice().reverse(),3,$o,gt(p/m)).reverse():t}function uu(e,t,s,l){return l==null?Ds:t==null?"":
Rs(t)}var eo={show:!0,scale:"y",stroke:Ps,space:30,gap:5,alignTo:1,size:50,labelGap:0,labelSize:30,labelFont:Oo,
side:3,grid:Fs,ticks:No,border:Co,font:Vs,lineGap:Ro,rotate:0};function cu(e,t){let s=3+(e||1)*2;return he(
s*t,3)}function fu(e,t){let{scale:s,idxs:l}=e.series[0],o=e._data[0],u=e.valToPos(o[l[0]],s,!0),c=e.
valToPos(o[l[1]],s,!0),p=Ne(c-u),h=e.series[t],m=p/(h.points.space*re);return l[1]-l[0]<=m}var to={scale:null,
auto:!0,sorted:0,min:pe,max:-pe},zo=(e,t,s,l,o)=>o,lo={show:!0,auto:!0,sorted:0,gaps:zo,alpha:1,facets:[
Le({},to,{scale:"x"}),Le({},to,{scale:"y"})]},no={scale:"y",auto:!0,sorted:0,show:!0,spanGaps:!1,gaps:zo,
alpha:1,points:{show:fu,filter:null},values:null,min:pe,max:-pe,idxs:[],path:null,clip:null};function pu(e,t,s,l,o){
return s/10}var Ho={time:!0,auto:!0,distr:1,log:10,asinh:1,min:null,max:null,dir:1,ori:0},hu=Le({},Ho,
{time:!1,ori:1}),so={};function Fo(e,t){let s=so[e];return s||(s={key:e,plots:[],sub(l){s.plots.push(
l)},unsub(l){s.plots=s.plots.filter(o=>o!=l)},pub(l,o,u,c,p,h,m){for(let x=0;x<s.plots.length;x++)s.
plots[x]!=o&&s.plots[x].pub(l,o,u,c,p,h,m)}},e!=null&&(so[e]=s)),s}var Fl=1,Ms=2;function fl(e,t,s){
let l=e.mode,o=e.series[t],u=l==2?e._data[t]:e._data,c=e.scales,p=e.bbox,h=u[0],m=l==2?u[1]:u[t],x=l==
2?c[o.facets[0].scale]:c[e.series[0].scale],g=l==2?c[o.facets[1].scale]:c[o.scale],w=p.left,D=p.top,
P=p.width,H=p.height,V=e.valToPosH,W=e.valToPosV;return x.ori==0?s(o,h,m,x,g,V,W,w,D,P,H,Nn,Il,On,Io,
Go):s(o,h,m,x,g,W,V,D,w,H,P,Cn,Wl,Gs,Wo,Uo)}function Is(e,t){let s=0,l=0,o=ie(e.bands,$s);for(let u=0;u<
o.length;u++){let c=o[u];c.series[0]==t?s=c.dir:c.series[1]==t&&(c.dir==1?l|=1:l|=2)}return[s,l==1?-1:
l==2?1:l==3?2:0]}function du(e,t,s,l,o){let u=e.mode,c=e.series[t],p=u==2?c.facets[1].scale:c.scale,
h=e.scales[p];return o==-1?h.min:o==1?h.max:h.distr==3?h.dir==1?h.min:h.max:0}function Ft(e,t,s,l,o,u){
return fl(e,t,(c,p,h,m,x,g,w,D,P,H,V)=>{let W=c.pxRound,S=m.dir*(m.ori==0?1:-1),F=m.ori==0?Il:Wl,k,j;
S==1?(k=s,j=l):(k=l,j=s);let A=W(g(p[k],m,H,D)),Z=W(w(h[k],x,V,P)),K=W(g(p[j],m,H,D)),ee=W(w(u==1?x.
max:x.min,x,V,P)),Y=new Path2D(o);return F(Y,K,ee),F(Y,A,ee),F(Y,A,Z),Y})}function Dn(e,t,s,l,o,u){let c=null;
if(e.length>0){c=new Path2D;let p=t==0?On:Gs,h=s;for(let g=0;g<e.length;g++){let w=e[g];if(w[1]>w[0]){
let D=w[0]-h;D>0&&p(c,h,l,D,l+u),h=w[1]}}let m=s+o-h,x=10;m>0&&p(c,h,l-x/2,m,l+u+x)}return c}function mu(e,t,s){
let l=e[e.length-1];l&&l[0]==t?l[1]=s:e.push([t,s])}function Ws(e,t,s,l,o,u,c){let p=[],h=e.length;for(let m=o==
1?s:l;m>=s&&m<=l;m+=o)if(t[m]===null){let g=m,w=m;if(o==1)for(;++m<=l&&t[m]===null;)w=m;else for(;--m>=
s&&t[m]===null;)w=m;let D=u(e[g]),P=w==g?D:u(e[w]),H=g-o;D=c<=0&&H>=0&&H<h?u(e[H]):D;let W=w+o;P=c>=
0&&W>=0&&W<h?u(e[W]):P,P>=D&&p.push([D,P])}return p}function io(e){return e==0?go:e==1?De:t=>ol(t,e)}
function Vo(e){let t=e==0?Nn:Cn,s=e==0?(o,u,c,p,h,m)=>{o.arcTo(u,c,p,h,m)}:(o,u,c,p,h,m)=>{o.arcTo(c,
u,h,p,m)},l=e==0?(o,u,c,p,h)=>{o.rect(u,c,p,h)}:(o,u,c,p,h)=>{o.rect(c,u,h,p)};return(o,u,c,p,h,m=0,x=0)=>{
m==0&&x==0?l(o,u,c,p,h):(m=_t(m,p/2,h/2),x=_t(x,p/2,h/2),t(o,u+m,c),s(o,u+p,c,u+p,c+h,m),s(o,u+p,c+h,
u,c+h,x),s(o,u,c+h,u,c,x),s(o,u,c,u+p,c,m),o.closePath())}}var Nn=(e,t,s)=>{e.moveTo(t,s)},Cn=(e,t,s)=>{
e.moveTo(s,t)},Il=(e,t,s)=>{e.lineTo(t,s)},Wl=(e,t,s)=>{e.lineTo(s,t)},On=Vo(0),Gs=Vo(1),Io=(e,t,s,l,o,u)=>{
e.arc(t,s,l,o,u)},Wo=(e,t,s,l,o,u)=>{e.arc(s,t,l,o,u)},Go=(e,t,s,l,o,u,c)=>{e.bezierCurveTo(t,s,l,o,
u,c)},Uo=(e,t,s,l,o,u,c)=>{e.bezierCurveTo(s,t,o,l,c,u)};function Bo(e){return(t,s,l,o,u)=>fl(t,s,(c,p,h,m,x,g,w,D,P,H,V)=>{
let{pxRound:W,points:S}=c,F,k;m.ori==0?(F=Nn,k=Io):(F=Cn,k=Wo);let j=he(S.width*re,3),A=(S.size-S.width)/
2*re,Z=he(A*2,3),K=new Path2D,ee=new Path2D,{left:Y,top:_,width:q,height:C}=t.bbox;On(ee,Y-Z,_-Z,q+Z*
2,C+Z*2);let G=z=>{if(h[z]!=null){let le=W(g(p[z],m,H,D)),$=W(w(h[z],x,V,P));F(K,le+A,$),k(K,le,$,A,
0,kn*2)}};if(u)u.forEach(G);else for(let z=l;z<=o;z++)G(z);return{stroke:j>0?K:null,fill:K,clip:ee,flags:Fl|
Ms}})}function Yo(e){return(t,s,l,o,u,c)=>{l!=o&&(u!=l&&c!=l&&e(t,s,l),u!=o&&c!=o&&e(t,s,o),e(t,s,c))}}
var gu=Yo(Il),wu=Yo(Wl);function Ko(e){let t=ie(e?.alignGaps,0);return(s,l,o,u)=>fl(s,l,(c,p,h,m,x,g,w,D,P,H,V)=>{
[o,u]=Mn(h,o,u);let W=c.pxRound,S=C=>W(g(C,m,H,D)),F=C=>W(w(C,x,V,P)),k,j;m.ori==0?(k=Il,j=gu):(k=Wl,
j=wu);let A=m.dir*(m.ori==0?1:-1),Z={stroke:new Path2D,fill:null,clip:null,band:null,gaps:null,flags:Fl},
K=Z.stroke,ee=!1;if(u-o>=H*4){let C=O=>s.posToVal(O,m.key,!0),G=null,z=null,le,$,je,xe=S(p[A==1?o:u]),
ne=S(p[o]),ce=S(p[u]),Q=C(A==1?ne+1:ce-1);for(let O=A==1?o:u;O>=o&&O<=u;O+=A){let Ae=p[O],ve=(A==1?Ae<
Q:Ae>Q)?xe:S(Ae),ae=h[O];ve==xe?ae!=null?($=ae,G==null?(k(K,ve,F($)),le=G=z=$):$<G?G=$:$>z&&(z=$)):ae===
null&&(ee=!0):(G!=null&&j(K,xe,F(G),F(z),F(le),F($)),ae!=null?($=ae,k(K,ve,F($)),G=z=le=$):(G=z=null,
ae===null&&(ee=!0)),xe=ve,Q=C(xe+A))}G!=null&&G!=z&&je!=xe&&j(K,xe,F(G),F(z),F(le),F($))}else for(let C=A==
1?o:u;C>=o&&C<=u;C+=A){let G=h[C];G===null?ee=!0:G!=null&&k(K,S(p[C]),F(G))}let[_,q]=Is(s,l);if(c.fill!=
null||_!=0){let C=Z.fill=new Path2D(K),G=c.fillTo(s,l,c.min,c.max,_),z=F(G),le=S(p[o]),$=S(p[u]);A==
-1&&([$,le]=[le,$]),k(C,$,z),k(C,le,z)}if(!c.spanGaps){let C=[];ee&&C.push(...Ws(p,h,o,u,A,S,t)),Z.gaps=
C=c.gaps(s,l,o,u,C),Z.clip=Dn(C,m.ori,D,P,H,V)}return q!=0&&(Z.band=q==2?[Ft(s,l,o,u,K,-1),Ft(s,l,o,
u,K,1)]:Ft(s,l,o,u,K,q)),Z})}function bu(e){let t=ie(e.align,1),s=ie(e.ascDesc,!1),l=ie(e.alignGaps,
0),o=ie(e.extend,!1);return(u,c,p,h)=>fl(u,c,(m,x,g,w,D,P,H,V,W,S,F)=>{[p,h]=Mn(g,p,h);let k=m.pxRound,
{left:j,width:A}=u.bbox,Z=ne=>k(P(ne,w,S,V)),K=ne=>k(H(ne,D,F,W)),ee=w.ori==0?Il:Wl,Y={stroke:new Path2D,
fill:null,clip:null,band:null,gaps:null,flags:Fl},_=Y.stroke,q=w.dir*(w.ori==0?1:-1),C=K(g[q==1?p:h]),
G=Z(x[q==1?p:h]),z=G,le=G;o&&t==-1&&(le=j,ee(_,le,C)),ee(_,G,C);for(let ne=q==1?p:h;ne>=p&&ne<=h;ne+=
q){let ce=g[ne];if(ce==null)continue;let Q=Z(x[ne]),O=K(ce);t==1?ee(_,Q,C):ee(_,z,O),ee(_,Q,O),C=O,z=
Q}let $=z;o&&t==1&&($=j+A,ee(_,$,C));let[je,xe]=Is(u,c);if(m.fill!=null||je!=0){let ne=Y.fill=new Path2D(
_),ce=m.fillTo(u,c,m.min,m.max,je),Q=K(ce);ee(ne,$,Q),ee(ne,le,Q)}if(!m.spanGaps){let ne=[];ne.push(
...Ws(x,g,p,h,q,Z,l));let ce=m.width*re/2,Q=s||t==1?ce:-ce,O=s||t==-1?-ce:ce;ne.forEach(Ae=>{Ae[0]+=
Q,Ae[1]+=O}),Y.gaps=ne=m.gaps(u,c,p,h,ne),Y.clip=Dn(ne,w.ori,V,W,S,F)}return xe!=0&&(Y.band=xe==2?[Ft(
u,c,p,h,_,-1),Ft(u,c,p,h,_,1)]:Ft(u,c,p,h,_,xe)),Y})}function oo(e,t,s,l,o,u,c=pe){if(e.length>1){let p=null;
for(let h=0,m=1/0;h<e.length;h++)if(t[h]!==void 0){if(p!=null){let x=Ne(e[h]-e[p]);x<m&&(m=x,c=Ne(s(
e[h],l,o,u)-s(e[p],l,o,u)))}p=h}}return c}function xu(e){e=e||on;let t=ie(e.size,[.6,pe,1]),s=e.align||
0,l=e.gap||0,o=e.radius;o=o==null?[0,0]:typeof o=="number"?[o,0]:o;let u=te(o),c=1-t[0],p=ie(t[1],pe),
h=ie(t[2],1),m=ie(e.disp,on),x=ie(e.each,D=>{}),{fill:g,stroke:w}=m;return(D,P,H,V)=>fl(D,P,(W,S,F,k,j,A,Z,K,ee,Y,_)=>{
let q=W.pxRound,C=s,G=l*re,z=p*re,le=h*re,$,je;k.ori==0?[$,je]=u(D,P):[je,$]=u(D,P);let xe=k.dir*(k.
ori==0?1:-1),ne=k.ori==0?On:Gs,ce=k.ori==0?x:(M,de,Pe,gl,Qt,Tt,Xt)=>{x(M,de,Pe,Qt,gl,Xt,Tt)},Q=ie(D.
bands,$s).find(M=>M.series[0]==P),O=Q!=null?Q.dir:0,Ae=W.fillTo(D,P,W.min,W.max,O),Ue=q(Z(Ae,j,_,ee)),
ve,ae,wt,Xe=Y,ke=q(W.width*re),Et=!1,Rt=null,ut=null,It=null,hl=null;g!=null&&(ke==0||w!=null)&&(Et=
!0,Rt=g.values(D,P,H,V),ut=new Map,new Set(Rt).forEach(M=>{M!=null&&ut.set(M,new Path2D)}),ke>0&&(It=
w.values(D,P,H,V),hl=new Map,new Set(It).forEach(M=>{M!=null&&hl.set(M,new Path2D)})));let{x0:dl,size:Ul}=m;
if(dl!=null&&Ul!=null){C=1,S=dl.values(D,P,H,V),dl.unit==2&&(S=S.map(Pe=>D.posToVal(K+Pe*Y,k.key,!0)));
let M=Ul.values(D,P,H,V);Ul.unit==2?ae=M[0]*Y:ae=A(M[0],k,Y,K)-A(0,k,Y,K),Xe=oo(S,F,A,k,Y,K,Xe),wt=Xe-
ae+G}else Xe=oo(S,F,A,k,Y,K,Xe),wt=Xe*c+G,ae=Xe-wt;wt<1&&(wt=0),ke>=ae/2&&(ke=0),wt<5&&(q=go);let an=wt>
0,jt=Xe-wt-(an?ke:0);ae=q(_s(jt,le,z)),ve=(C==0?ae/2:C==xe?0:ae)-C*xe*((C==0?G/2:0)+(an?ke/2:0));let Be={
stroke:null,fill:null,clip:null,band:null,gaps:null,flags:0},ml=Et?null:new Path2D,$t=null;if(Q!=null)
$t=D.data[Q.series[1]];else{let{y0:M,y1:de}=m;M!=null&&de!=null&&(F=de.values(D,P,H,V),$t=M.values(D,
P,H,V))}let Zt=$*ae,J=je*ae;for(let M=xe==1?H:V;M>=H&&M<=V;M+=xe){let de=F[M];if(de==null)continue;if($t!=
null){let Ze=$t[M]??0;if(de-Ze==0)continue;Ue=Z(Ze,j,_,ee)}let Pe=k.distr!=2||m!=null?S[M]:M,gl=A(Pe,
k,Y,K),Qt=Z(ie(de,Ae),j,_,ee),Tt=q(gl-ve),Xt=q(qe(Qt,Ue)),et=q(_t(Qt,Ue)),ct=Xt-et;if(de!=null){let Ze=de<
0?J:Zt,bt=de<0?Zt:J;Et?(ke>0&&It[M]!=null&&ne(hl.get(It[M]),Tt,et+ot(ke/2),ae,qe(0,ct-ke),Ze,bt),Rt[M]!=
null&&ne(ut.get(Rt[M]),Tt,et+ot(ke/2),ae,qe(0,ct-ke),Ze,bt)):ne(ml,Tt,et+ot(ke/2),ae,qe(0,ct-ke),Ze,
bt),ce(D,P,M,Tt-ke/2,et,ae+ke,ct)}}return ke>0?Be.stroke=Et?hl:ml:Et||(Be._fill=W.width==0?W._fill:W.
_stroke??W._fill,Be.width=0),Be.fill=Et?ut:ml,Be})}function vu(e,t){let s=ie(t?.alignGaps,0);return(l,o,u,c)=>fl(
l,o,(p,h,m,x,g,w,D,P,H,V,W)=>{[u,c]=Mn(m,u,c);let S=p.pxRound,F=$=>S(w($,x,V,P)),k=$=>S(D($,g,W,H)),
j,A,Z;x.ori==0?(j=Nn,Z=Il,A=Go):(j=Cn,Z=Wl,A=Uo);let K=x.dir*(x.ori==0?1:-1),ee=F(h[K==1?u:c]),Y=ee,
_=[],q=[];for(let $=K==1?u:c;$>=u&&$<=c;$+=K)if(m[$]!=null){let xe=h[$],ne=F(xe);_.push(Y=ne),q.push(
k(m[$]))}let C={stroke:e(_,q,j,Z,A,S),fill:null,clip:null,band:null,gaps:null,flags:Fl},G=C.stroke,[
z,le]=Is(l,o);if(p.fill!=null||z!=0){let $=C.fill=new Path2D(G),je=p.fillTo(l,o,p.min,p.max,z),xe=k(
je);Z($,Y,xe),Z($,ee,xe)}if(!p.spanGaps){let $=[];$.push(...Ws(h,m,u,c,K,F,s)),C.gaps=$=p.gaps(l,o,u,
c,$),C.clip=Dn($,x.ori,P,H,V,W)}return le!=0&&(C.band=le==2?[Ft(l,o,u,c,G,-1),Ft(l,o,u,c,G,1)]:Ft(l,
o,u,c,G,le)),C})}function yu(e){return vu(Su,e)}function Su(e,t,s,l,o,u){let c=e.length;if(c<2)return null;
let p=new Path2D;if(s(p,e[0],t[0]),c==2)l(p,e[1],t[1]);else{let h=Array(c),m=Array(c-1),x=Array(c-1),
g=Array(c-1);for(let w=0;w<c-1;w++)x[w]=t[w+1]-t[w],g[w]=e[w+1]-e[w],m[w]=x[w]/g[w];h[0]=m[0];for(let w=1;w<
c-1;w++)m[w]===0||m[w-1]===0||m[w-1]>0!=m[w]>0?h[w]=0:(h[w]=3*(g[w-1]+g[w])/((2*g[w]+g[w-1])/m[w-1]+
(g[w]+2*g[w-1])/m[w]),isFinite(h[w])||(h[w]=0));h[c-1]=m[c-2];for(let w=0;w<c-1;w++)o(p,e[w]+g[w]/3,
t[w]+h[w]*g[w]/3,e[w+1]-g[w]/3,t[w+1]-h[w+1]*g[w]/3,e[w+1],t[w+1])}return p}var Ls=new Set;function ro(){
for(let e of Ls)e.syncRect(!0)}Vl&&(ul(la,Rl,ro),ul(na,Rl,ro,!0),ul(_n,Rl,()=>{Ie.pxRatio=re}));var ku=Ko(),
_u=Bo();function ao(e,t,s,l){return(l?[e[0],e[1]].concat(e.slice(2)):[e[0]].concat(e.slice(1))).map(
(u,c)=>As(u,c,t,s))}function Eu(e,t){return e.map((s,l)=>l==0?{}:Le({},t,s))}function As(e,t,s,l){return Le(
{},t==0?s:l,e)}function Jo(e,t,s){return t==null?zl:[t,s]}var Tu=Jo;function Mu(e,t,s){return t==null?
zl:En(t,s,Os,!0)}function qo(e,t,s,l){return t==null?zl:Ln(t,s,e.scales[l].log,!1)}var Lu=qo;function jo(e,t,s,l){
return t==null?zl:Cs(t,s,e.scales[l].log,!1)}var Au=jo;function Pu(e,t,s,l,o){let u=qe(Vi(e),Vi(t)),
c=t-e,p=kt(o/l*c,s);do{let h=s[p],m=l*h/c;if(m>=o&&u+(h<5?qt.get(h):0)<=17)return[h,m]}while(++p<s.length);
return[0,0]}function uo(e){let t,s;return e=e.replace(/(\d+)px/,(l,o)=>(t=De((s=+o)*re))+"px"),[e,t,
s]}function Du(e){e.show&&[e.font,e.labelFont].forEach(t=>{let s=he(t[2]*re,1);t[0]=t[0].replace(/[0-9.]+px/,
s+"px"),t[1]=s})}function Ie(e,t,s){let l={mode:ie(e.mode,1)},o=l.mode;function u(n,i,r,a){let f=i.valToPct(
n);return a+r*(i.dir==-1?1-f:f)}function c(n,i,r,a){let f=i.valToPct(n);return a+r*(i.dir==-1?f:1-f)}
function p(n,i,r,a){return i.ori==0?u(n,i,r,a):c(n,i,r,a)}l.valToPosH=u,l.valToPosV=c;let h=!1;l.status=
0;let m=l.root=mt(Hr);if(e.id!=null&&(m.id=e.id),it(m,e.class),e.title){let n=mt(Ir,m);n.textContent=
e.title}let x=St("canvas"),g=l.ctx=x.getContext("2d"),w=mt(Wr,m);ul("click",w,n=>{n.target===P&&(me!=
Ml||ye!=Ll)&&Ve.click(l,n)},!0);let D=l.under=mt(Gr,w);w.appendChild(x);let P=l.over=mt(Ur,w);e=Hl(e);
let H=+ie(e.pxAlign,1),V=io(H);(e.plugins||[]).forEach(n=>{n.opts&&(e=n.opts(l,e)||e)});let W=e.ms||
.001,S=l.series=o==1?ao(e.series||[],Qi,no,!1):Eu(e.series||[null],lo),F=l.axes=ao(e.axes||[],Zi,eo,
!0),k=l.scales={},j=l.bands=e.bands||[];j.forEach(n=>{n.fill=te(n.fill||null),n.dir=ie(n.dir,-1)});let A=o==
2?S[1].facets[0].scale:S[0].scale,Z={axes:vr,series:mr},K=(e.drawOrder||["axes","series"]).map(n=>Z[n]);
function ee(n){let i=n.distr==3?r=>Ht(r>0?r:n.clamp(l,r,n.min,n.max,n.key)):n.distr==4?r=>gs(r,n.asinh):
n.distr==100?r=>n.fwd(r):r=>r;return r=>{let a=i(r),{_min:f,_max:d}=n,b=d-f;return(a-f)/b}}function Y(n){
let i=k[n];if(i==null){let r=(e.scales||on)[n]||on;if(r.from!=null){Y(r.from);let a=Le({},k[r.from],
r,{key:n});a.valToPct=ee(a),k[n]=a}else{i=k[n]=Le({},n==A?Ho:hu,r),i.key=n;let a=i.time,f=i.range,d=Jt(
f);if((n!=A||o==2&&!a)&&(d&&(f[0]==null||f[1]==null)&&(f={min:f[0]==null?zi:{mode:1,hard:f[0],soft:f[0]},
max:f[1]==null?zi:{mode:1,hard:f[1],soft:f[1]}},d=!1),!d&&Pn(f))){let b=f;f=(v,y,E)=>y==null?zl:En(y,
E,b)}i.range=te(f||(a?Tu:n==A?i.distr==3?Lu:i.distr==4?Au:Jo:i.distr==3?qo:i.distr==4?jo:Mu)),i.auto=
te(d?!1:i.auto),i.clamp=te(i.clamp||pu),i._min=i._max=null,i.valToPct=ee(i)}}}Y("x"),Y("y"),o==1&&S.
forEach(n=>{Y(n.scale)}),F.forEach(n=>{Y(n.scale)});for(let n in e.scales)Y(n);let _=k[A],q=_.distr,
C,G;_.ori==0?(it(m,Fr),C=u,G=c):(it(m,Vr),C=c,G=u);let z={};for(let n in k){let i=k[n];(i.min!=null||
i.max!=null)&&(z[n]={min:i.min,max:i.max},i.min=i.max=null)}let le=e.tzDate||(n=>new Date(De(n/W))),
$=e.fmtDate||zs,je=W==1?Fa(le):Wa(le),xe=Ji(le,Ki(W==1?Ha:Ia,$)),ne=ji(le,qi(Ua,$)),ce=[],Q=l.legend=
Le({},Ka,e.legend),O=l.cursor=Le({},Xa,{drag:{y:o==2}},e.cursor),Ae=Q.show,Ue=O.show,ve=Q.markers;Q.
idxs=ce,ve.width=te(ve.width),ve.dash=te(ve.dash),ve.stroke=te(ve.stroke),ve.fill=te(ve.fill);let ae,
wt,Xe,ke=[],Et=[],Rt,ut=!1,It={};if(Q.live){let n=S[1]?S[1].values:null;ut=n!=null,Rt=ut?n(l,1,0):{_:0};
for(let i in Rt)It[i]=Ds}if(Ae)if(ae=St("table",jr,m),Xe=St("tbody",null,ae),Q.mount(l,ae),ut){wt=St(
"thead",null,ae,Xe);let n=St("tr",null,wt);St("th",null,n);for(var hl in Rt)St("th",_i,n).textContent=
hl}else it(ae,Qr),Q.live&&it(ae,Zr);let dl={show:!0},Ul={show:!1};function an(n,i){if(i==0&&(ut||!Q.
live||o==2))return zl;let r=[],a=St("tr",Xr,Xe,Xe.childNodes[i]);it(a,n.class),n.show||it(a,al);let f=St(
"th",null,a);if(ve.show){let v=mt(ea,f);if(i>0){let y=ve.width(l,i);y&&(v.style.border=y+"px "+ve.dash(
l,i)+" "+ve.stroke(l,i)),v.style.background=ve.fill(l,i)}}let d=mt(_i,f);n.label instanceof HTMLElement?
d.appendChild(n.label):d.textContent=n.label,i>0&&(ve.show||(d.style.color=n.width>0?ve.stroke(l,i):
ve.fill(l,i)),Be("click",f,v=>{if(O._lock)return;tl(v);let y=S.indexOf(n);if((v.ctrlKey||v.metaKey)!=
Q.isolate){let E=S.some((T,L)=>L>0&&L!=y&&T.show);S.forEach((T,L)=>{L>0&&Lt(L,E?L==y?dl:Ul:dl,!0,Me.
setSeries)})}else Lt(y,{show:!n.show},!0,Me.setSeries)},!1),bl&&Be(Li,f,v=>{O._lock||(tl(v),Lt(S.indexOf(
n),Pl,!0,Me.setSeries))},!1));for(var b in Rt){let v=St("td",ta,a);v.textContent="--",r.push(v)}return[
a,r]}let jt=new Map;function Be(n,i,r,a=!0){let f=jt.get(i)||{},d=O.bind[n](l,i,r,a);d&&(ul(n,i,f[n]=
d),jt.set(i,f))}function ml(n,i,r){let a=jt.get(i)||{};for(let f in a)(n==null||f==n)&&(ks(f,i,a[f]),
delete a[f]);n==null&&jt.delete(i)}let $t=0,Zt=0,J=0,M=0,de=0,Pe=0,gl=de,Qt=Pe,Tt=J,Xt=M,et=0,ct=0,Ze=0,
bt=0;l.bbox={};let Vn=!1,un=!1,wl=!1,el=!1,cn=!1,ft=!1;function In(n,i,r){(r||n!=l.width||i!=l.height)&&
Ys(n,i),kl(!1),wl=!0,un=!0,_l()}function Ys(n,i){l.width=$t=J=n,l.height=Zt=M=i,de=Pe=0,ar(),ur();let r=l.
bbox;et=r.left=ol(de*re,.5),ct=r.top=ol(Pe*re,.5),Ze=r.width=ol(J*re,.5),bt=r.height=ol(M*re,.5)}let ir=3;
function or(){let n=!1,i=0;for(;!n;){i++;let r=br(i),a=xr(i);n=i==ir||r&&a,n||(Ys(l.width,l.height),
un=!0)}}function rr({width:n,height:i}){In(n,i)}l.setSize=rr;function ar(){let n=!1,i=!1,r=!1,a=!1;F.
forEach((f,d)=>{if(f.show&&f._show){let{side:b,_size:v}=f,y=b%2,E=f.label!=null?f.labelSize:0,T=v+E;
T>0&&(y?(J-=T,b==3?(de+=T,a=!0):r=!0):(M-=T,b==0?(Pe+=T,n=!0):i=!0))}}),ll[0]=n,ll[1]=r,ll[2]=i,ll[3]=
a,J-=Wt[1]+Wt[3],de+=Wt[3],M-=Wt[2]+Wt[0],Pe+=Wt[0]}function ur(){let n=de+J,i=Pe+M,r=de,a=Pe;function f(d,b){
switch(d){case 1:return n+=b,n-b;case 2:return i+=b,i-b;case 3:return r-=b,r+b;case 0:return a-=b,a+
b}}F.forEach((d,b)=>{if(d.show&&d._show){let v=d.side;d._pos=f(v,d._size),d.label!=null&&(d._lpos=f(
v,d.labelSize))}})}if(O.dataIdx==null){let n=O.hover,i=n.skip=new Set(n.skip??[]);i.add(void 0);let r=n.
prox=te(n.prox),a=n.bias??=0;O.dataIdx=(f,d,b,v)=>{if(d==0)return b;let y=b,E=r(f,d,b,v)??pe,T=E>=0&&
E<pe,L=_.ori==0?J:M,U=O.left,oe=t[0],se=t[d];if(i.has(se[b])){y=null;let X=null,I=null,R;if(a==0||a==
-1)for(R=b;X==null&&R-- >0;)i.has(se[R])||(X=R);if(a==0||a==1)for(R=b;I==null&&R++<se.length;)i.has(
se[R])||(I=R);if(X!=null||I!=null)if(T){let we=X==null?-1/0:C(oe[X],_,L,0),Ee=I==null?1/0:C(oe[I],_,
L,0),He=U-we,fe=Ee-U;He<=fe?He<=E&&(y=X):fe<=E&&(y=I)}else y=I==null?X:X==null?I:b-X<=I-b?X:I}else T&&
Ne(U-C(oe[b],_,L,0))>E&&(y=null);return y}}let tl=n=>{O.event=n};O.idxs=ce,O._lock=!1;let We=O.points;
We.show=te(We.show),We.size=te(We.size),We.stroke=te(We.stroke),We.width=te(We.width),We.fill=te(We.
fill);let Mt=l.focus=Le({},e.focus||{alpha:.3},O.focus),bl=Mt.prox>=0,xl=bl&&We.one,pt=[],vl=[],yl=[];
function Ks(n,i){let r=We.show(l,i);if(r instanceof HTMLElement)return it(r,qr),it(r,n.class),Ot(r,-10,
-10,J,M),P.insertBefore(r,pt[i]),r}function Js(n,i){if(o==1||i>0){let r=o==1&&k[n.scale].time,a=n.value;
n.value=r?Gi(a)?ji(le,qi(a,$)):a||ne:a||uu,n.label=n.label||(r?tu:eu)}if(xl||i>0){n.width=n.width==null?
1:n.width,n.paths=n.paths||ku||ha,n.fillTo=te(n.fillTo||du),n.pxAlign=+ie(n.pxAlign,H),n.pxRound=io(
n.pxAlign),n.stroke=te(n.stroke||null),n.fill=te(n.fill||null),n._stroke=n._fill=n._paths=n._focus=null;
let r=cu(qe(1,n.width),1),a=n.points=Le({},{size:r,width:qe(1,r*.2),stroke:n.stroke,space:r*2,paths:_u,
_stroke:null,_fill:null},n.points);a.show=te(a.show),a.filter=te(a.filter),a.fill=te(a.fill),a.stroke=
te(a.stroke),a.paths=te(a.paths),a.pxAlign=n.pxAlign}if(Ae){let r=an(n,i);ke.splice(i,0,r[0]),Et.splice(
i,0,r[1]),Q.values.push(null)}if(Ue){ce.splice(i,0,null);let r=null;xl?i==0&&(r=Ks(n,i)):i>0&&(r=Ks(
n,i)),pt.splice(i,0,r),vl.splice(i,0,0),yl.splice(i,0,0)}ze("addSeries",i)}function cr(n,i){i=i??S.length,
n=o==1?As(n,i,Qi,no):As(n,i,{},lo),S.splice(i,0,n),Js(S[i],i)}l.addSeries=cr;function fr(n){if(S.splice(
n,1),Ae){Q.values.splice(n,1),Et.splice(n,1);let i=ke.splice(n,1)[0];ml(null,i.firstChild),i.remove()}
Ue&&(ce.splice(n,1),pt.splice(n,1)[0].remove(),vl.splice(n,1),yl.splice(n,1)),ze("delSeries",n)}l.delSeries=
fr;let ll=[!1,!1,!1,!1];function pr(n,i){if(n._show=n.show,n.show){let r=n.side%2,a=k[n.scale];a==null&&
(n.scale=r?S[1].scale:A,a=k[n.scale]);let f=a.time;n.size=te(n.size),n.space=te(n.space),n.rotate=te(
n.rotate),Jt(n.incrs)&&n.incrs.forEach(b=>{!qt.has(b)&&qt.set(b,xo(b))}),n.incrs=te(n.incrs||(a.distr==
2?Ra:f?W==1?za:Va:rl)),n.splits=te(n.splits||(f&&a.distr==1?je:a.distr==3?Es:a.distr==4?su:nu)),n.stroke=
te(n.stroke),n.grid.stroke=te(n.grid.stroke),n.ticks.stroke=te(n.ticks.stroke),n.border.stroke=te(n.
border.stroke);let d=n.values;n.values=Jt(d)&&!Jt(d[0])?te(d):f?Jt(d)?Ji(le,Ki(d,$)):Gi(d)?Ga(le,d):
d||xe:d||lu,n.filter=te(n.filter||(a.distr>=3&&a.log==10?ru:a.distr==3&&a.log==2?au:wo)),n.font=uo(n.
font),n.labelFont=uo(n.labelFont),n._size=n.size(l,null,i,0),n._space=n._rotate=n._incrs=n._found=n.
_splits=n._values=null,n._size>0&&(ll[i]=!0,n._el=mt(Br,w))}}function Bl(n,i,r,a){let[f,d,b,v]=r,y=i%
2,E=0;return y==0&&(v||d)&&(E=i==0&&!f||i==2&&!b?De(Zi.size/3):0),y==1&&(f||b)&&(E=i==1&&!d||i==3&&!v?
De(eo.size/2):0),E}let qs=l.padding=(e.padding||[Bl,Bl,Bl,Bl]).map(n=>te(ie(n,Bl))),Wt=l._padding=qs.
map((n,i)=>n(l,i,ll,0)),Fe,Ce=null,Oe=null,fn=o==1?S[0].idxs:null,xt=null,Yl=!1;function js(n,i){if(t=
n??[],l.data=l._data=t,o==2){Fe=0;for(let r=1;r<S.length;r++)Fe+=t[r][0].length}else{t.length==0&&(l.
data=l._data=t=[[]]),xt=t[0],Fe=xt.length;let r=t;if(q==2){r=t.slice();let a=r[0]=Array(Fe);for(let f=0;f<
Fe;f++)a[f]=f}l._data=t=r}if(kl(!0),ze("setData"),q==2&&(wl=!0),i!==!1){let r=_;r.auto(l,Yl)?Wn():Ut(
A,r.min,r.max),el=el||O.left>=0,ft=!0,_l()}}l.setData=js;function Wn(){Yl=!0;let n,i;o==1&&(Fe>0?(Ce=
fn[0]=0,Oe=fn[1]=Fe-1,n=t[0][Ce],i=t[0][Oe],q==2?(n=Ce,i=Oe):n==i&&(q==3?[n,i]=Ln(n,n,_.log,!1):q==4?
[n,i]=Cs(n,n,_.log,!1):_.time?i=n+De(86400/W):[n,i]=En(n,i,Os,!0))):(Ce=fn[0]=n=null,Oe=fn[1]=i=null)),
Ut(A,n,i)}let pn,Sl,Gn,Un,Bn,Yn,Kn,Jn,qn,Qe;function Zs(n,i,r,a,f,d){n??=Ti,r??=$s,a??="butt",f??=Ti,
d??="round",n!=pn&&(g.strokeStyle=pn=n),f!=Sl&&(g.fillStyle=Sl=f),i!=Gn&&(g.lineWidth=Gn=i),d!=Bn&&(g.
lineJoin=Bn=d),a!=Yn&&(g.lineCap=Yn=a),r!=Un&&g.setLineDash(Un=r)}function Qs(n,i,r,a){i!=Sl&&(g.fillStyle=
Sl=i),n!=Kn&&(g.font=Kn=n),r!=Jn&&(g.textAlign=Jn=r),a!=qn&&(g.textBaseline=qn=a)}function jn(n,i,r,a,f=0){
if(a.length>0&&n.auto(l,Yl)&&(i==null||i.min==null)){let d=ie(Ce,0),b=ie(Oe,a.length-1),v=r.min==null?
ra(a,d,b,f,n.distr==3):[r.min,r.max];n.min=_t(n.min,r.min=v[0]),n.max=qe(n.max,r.max=v[1])}}let Xs={
min:null,max:null};function hr(){for(let a in k){let f=k[a];z[a]==null&&(f.min==null||z[A]!=null&&f.
auto(l,Yl))&&(z[a]=Xs)}for(let a in k){let f=k[a];z[a]==null&&f.from!=null&&z[f.from]!=null&&(z[a]=Xs)}
z[A]!=null&&kl(!0);let n={};for(let a in z){let f=z[a];if(f!=null){let d=n[a]=Hl(k[a],ga);if(f.min!=
null)Le(d,f);else if(a!=A||o==2)if(Fe==0&&d.from==null){let b=d.range(l,null,null,a);d.min=b[0],d.max=
b[1]}else d.min=pe,d.max=-pe}}if(Fe>0){S.forEach((a,f)=>{if(o==1){let d=a.scale,b=z[d];if(b==null)return;
let v=n[d];if(f==0){let y=v.range(l,v.min,v.max,d);v.min=y[0],v.max=y[1],Ce=kt(v.min,t[0]),Oe=kt(v.max,
t[0]),Oe-Ce>1&&(t[0][Ce]<v.min&&Ce++,t[0][Oe]>v.max&&Oe--),a.min=xt[Ce],a.max=xt[Oe]}else a.show&&a.
auto&&jn(v,b,a,t[f],a.sorted);a.idxs[0]=Ce,a.idxs[1]=Oe}else if(f>0&&a.show&&a.auto){let[d,b]=a.facets,
v=d.scale,y=b.scale,[E,T]=t[f],L=n[v],U=n[y];L!=null&&jn(L,z[v],d,E,d.sorted),U!=null&&jn(U,z[y],b,T,
b.sorted),a.min=b.min,a.max=b.max}});for(let a in n){let f=n[a],d=z[a];if(f.from==null&&(d==null||d.
min==null)){let b=f.range(l,f.min==pe?null:f.min,f.max==-pe?null:f.max,a);f.min=b[0],f.max=b[1]}}}for(let a in n){
let f=n[a];if(f.from!=null){let d=n[f.from];if(d.min==null)f.min=f.max=null;else{let b=f.range(l,d.min,
d.max,a);f.min=b[0],f.max=b[1]}}}let i={},r=!1;for(let a in n){let f=n[a],d=k[a];if(d.min!=f.min||d.
max!=f.max){d.min=f.min,d.max=f.max;let b=d.distr;d._min=b==3?Ht(d.min):b==4?gs(d.min,d.asinh):b==100?
d.fwd(d.min):d.min,d._max=b==3?Ht(d.max):b==4?gs(d.max,d.asinh):b==100?d.fwd(d.max):d.max,i[a]=r=!0}}
if(r){S.forEach((a,f)=>{o==2?f>0&&i.y&&(a._paths=null):i[a.scale]&&(a._paths=null)});for(let a in i)
wl=!0,ze("setScale",a);Ue&&O.left>=0&&(el=ft=!0)}for(let a in z)z[a]=null}function dr(n){let i=_s(Ce-
1,0,Fe-1),r=_s(Oe+1,0,Fe-1);for(;n[i]==null&&i>0;)i--;for(;n[r]==null&&r<Fe-1;)r++;return[i,r]}function mr(){
if(Fe>0){let n=S.some(i=>i._focus)&&Qe!=Mt.alpha;n&&(g.globalAlpha=Qe=Mt.alpha),S.forEach((i,r)=>{if(r>
0&&i.show&&(ei(r,!1),ei(r,!0),i._paths==null)){let a=Qe;Qe!=i.alpha&&(g.globalAlpha=Qe=i.alpha);let f=o==
2?[0,t[r][0].length-1]:dr(t[r]);i._paths=i.paths(l,r,f[0],f[1]),Qe!=a&&(g.globalAlpha=Qe=a)}}),S.forEach(
(i,r)=>{if(r>0&&i.show){let a=Qe;Qe!=i.alpha&&(g.globalAlpha=Qe=i.alpha),i._paths!=null&&ti(r,!1);{let f=i.
_paths!=null?i._paths.gaps:null,d=i.points.show(l,r,Ce,Oe,f),b=i.points.filter(l,r,d,f);(d||b)&&(i.points.
_paths=i.points.paths(l,r,Ce,Oe,b),ti(r,!0))}Qe!=a&&(g.globalAlpha=Qe=a),ze("drawSeries",r)}}),n&&(g.
globalAlpha=Qe=1)}}function ei(n,i){let r=i?S[n].points:S[n];r._stroke=r.stroke(l,n),r._fill=r.fill(
l,n)}function ti(n,i){let r=i?S[n].points:S[n],{stroke:a,fill:f,clip:d,flags:b,_stroke:v=r._stroke,_fill:y=r.
_fill,_width:E=r.width}=r._paths;E=he(E*re,3);let T=null,L=E%2/2;i&&y==null&&(y=E>0?"#fff":v);let U=r.
pxAlign==1&&L>0;if(U&&g.translate(L,L),!i){let oe=et-E/2,se=ct-E/2,X=Ze+E,I=bt+E;T=new Path2D,T.rect(
oe,se,X,I)}i?Zn(v,E,r.dash,r.cap,y,a,f,b,d):gr(n,v,E,r.dash,r.cap,y,a,f,b,T,d),U&&g.translate(-L,-L)}
function gr(n,i,r,a,f,d,b,v,y,E,T){let L=!1;y!=0&&j.forEach((U,oe)=>{if(U.series[0]==n){let se=S[U.series[1]],
X=t[U.series[1]],I=(se._paths||on).band;Jt(I)&&(I=U.dir==1?I[0]:I[1]);let R,we=null;se.show&&I&&ua(X,
Ce,Oe)?(we=U.fill(l,oe)||d,R=se._paths.clip):I=null,Zn(i,r,a,f,we,b,v,y,E,T,R,I),L=!0}}),L||Zn(i,r,a,
f,d,b,v,y,E,T)}let li=Fl|Ms;function Zn(n,i,r,a,f,d,b,v,y,E,T,L){Zs(n,i,r,a,f),(y||E||L)&&(g.save(),
y&&g.clip(y),E&&g.clip(E)),L?(v&li)==li?(g.clip(L),T&&g.clip(T),dn(f,b),hn(n,d,i)):v&Ms?(dn(f,b),g.clip(
L),hn(n,d,i)):v&Fl&&(g.save(),g.clip(L),T&&g.clip(T),dn(f,b),g.restore(),hn(n,d,i)):(dn(f,b),hn(n,d,
i)),(y||E||L)&&g.restore()}function hn(n,i,r){r>0&&(i instanceof Map?i.forEach((a,f)=>{g.strokeStyle=
pn=f,g.stroke(a)}):i!=null&&n&&g.stroke(i))}function dn(n,i){i instanceof Map?i.forEach((r,a)=>{g.fillStyle=
Sl=a,g.fill(r)}):i!=null&&n&&g.fill(i)}function wr(n,i,r,a){let f=F[n],d;if(a<=0)d=[0,0];else{let b=f.
_space=f.space(l,n,i,r,a),v=f._incrs=f.incrs(l,n,i,r,a,b);d=Pu(i,r,v,a,b)}return f._found=d}function Qn(n,i,r,a,f,d,b,v,y,E){
let T=b%2/2;H==1&&g.translate(T,T),Zs(v,b,y,E,v),g.beginPath();let L,U,oe,se,X=f+(a==0||a==3?-d:d);r==
0?(U=f,se=X):(L=f,oe=X);for(let I=0;I<n.length;I++)i[I]!=null&&(r==0?L=oe=n[I]:U=se=n[I],g.moveTo(L,
U),g.lineTo(oe,se));g.stroke(),H==1&&g.translate(-T,-T)}function br(n){let i=!0;return F.forEach((r,a)=>{
if(!r.show)return;let f=k[r.scale];if(f.min==null){r._show&&(i=!1,r._show=!1,kl(!1));return}else r._show||
(i=!1,r._show=!0,kl(!1));let d=r.side,b=d%2,{min:v,max:y}=f,[E,T]=wr(a,v,y,b==0?J:M);if(T==0)return;
let L=f.distr==2,U=r._splits=r.splits(l,a,v,y,E,T,L),oe=f.distr==2?U.map(R=>xt[R]):U,se=f.distr==2?xt[U[1]]-
xt[U[0]]:E,X=r._values=r.values(l,r.filter(l,oe,a,T,se),a,T,se);r._rotate=d==2?r.rotate(l,X,a,T):0;let I=r.
_size;r._size=gt(r.size(l,X,a,n)),I!=null&&r._size!=I&&(i=!1)}),i}function xr(n){let i=!0;return qs.
forEach((r,a)=>{let f=r(l,a,ll,n);f!=Wt[a]&&(i=!1),Wt[a]=f}),i}function vr(){for(let n=0;n<F.length;n++){
let i=F[n];if(!i.show||!i._show)continue;let r=i.side,a=r%2,f,d,b=i.stroke(l,n),v=r==0||r==3?-1:1,[y,
E]=i._found;if(i.label!=null){let Ke=i.labelGap*v,nt=De((i._lpos+Ke)*re);Qs(i.labelFont[0],b,"center",
r==2?"top":Ei),g.save(),a==1?(f=d=0,g.translate(nt,De(ct+bt/2)),g.rotate((r==3?-kn:kn)/2)):(f=De(et+
Ze/2),d=nt);let il=mo(i.label)?i.label(l,n,y,E):i.label;g.fillText(il,f,d),g.restore()}if(E==0)continue;
let T=k[i.scale],L=a==0?Ze:bt,U=a==0?et:ct,oe=i._splits,se=T.distr==2?oe.map(Ke=>xt[Ke]):oe,X=T.distr==
2?xt[oe[1]]-xt[oe[0]]:y,I=i.ticks,R=i.border,we=I.show?I.size:0,Ee=De(we*re),He=De((i.alignTo==2?i._size-
we-i.gap:i.gap)*re),fe=i._rotate*-kn/180,Te=V(i._pos*re),tt=(Ee+He)*v,Ye=Te+tt;d=a==0?Ye:0,f=a==1?Ye:
0;let ht=i.font[0],vt=i.align==1?Cl:i.align==2?hs:fe>0?Cl:fe<0?hs:a==0?"center":r==3?hs:Cl,Pt=fe||a==
1?"middle":r==2?"top":Ei;Qs(ht,b,vt,Pt);let lt=i.font[1]*i.lineGap,dt=oe.map(Ke=>V(p(Ke,T,L,U))),yt=i.
_values;for(let Ke=0;Ke<yt.length;Ke++){let nt=yt[Ke];if(nt!=null){a==0?f=dt[Ke]:d=dt[Ke],nt=""+nt;let il=nt.
indexOf(`
`)==-1?[nt]:nt.split(/\n/gm);for(let Je=0;Je<il.length;Je++){let yi=il[Je];fe?(g.save(),g.translate(
f,d+Je*lt),g.rotate(fe),g.fillText(yi,0,0),g.restore()):g.fillText(yi,f,d+Je*lt)}}}I.show&&Qn(dt,I.filter(
l,se,n,E,X),a,r,Te,Ee,he(I.width*re,3),I.stroke(l,n),I.dash,I.cap);let Dt=i.grid;Dt.show&&Qn(dt,Dt.filter(
l,se,n,E,X),a,a==0?2:1,a==0?ct:et,a==0?bt:Ze,he(Dt.width*re,3),Dt.stroke(l,n),Dt.dash,Dt.cap),R.show&&
Qn([Te],[1],a==0?1:0,a==0?1:2,a==1?ct:et,a==1?bt:Ze,he(R.width*re,3),R.stroke(l,n),R.dash,R.cap)}ze(
"drawAxes")}function kl(n){S.forEach((i,r)=>{r>0&&(i._paths=null,n&&(o==1?(i.min=null,i.max=null):i.
facets.forEach(a=>{a.min=null,a.max=null})))})}let mn=!1,Xn=!1,Kl=[];function yr(){Xn=!1;for(let n=0;n<
Kl.length;n++)ze(...Kl[n]);Kl.length=0}function _l(){mn||(ka(ni),mn=!0)}function Sr(n,i=!1){mn=!0,Xn=
i,n(l),ni(),i&&Kl.length>0&&queueMicrotask(yr)}l.batch=Sr;function ni(){if(Vn&&(hr(),Vn=!1),wl&&(or(),
wl=!1),un){if(be(D,Cl,de),be(D,"top",Pe),be(D,tn,J),be(D,ln,M),be(P,Cl,de),be(P,"top",Pe),be(P,tn,J),
be(P,ln,M),be(w,tn,$t),be(w,ln,Zt),x.width=De($t*re),x.height=De(Zt*re),F.forEach(({_el:n,_show:i,_size:r,
_pos:a,side:f})=>{if(n!=null)if(i){let d=f===3||f===0?r:0,b=f%2==1;be(n,b?"left":"top",a-d),be(n,b?"\
width":"height",r),be(n,b?"top":"left",b?Pe:de),be(n,b?"height":"width",b?M:J),Ss(n,al)}else it(n,al)}),
pn=Sl=Gn=Bn=Yn=Kn=Jn=qn=Un=null,Qe=1,jl(!0),de!=gl||Pe!=Qt||J!=Tt||M!=Xt){kl(!1);let n=J/Tt,i=M/Xt;if(Ue&&
!el&&O.left>=0){O.left*=n,O.top*=i,El&&Ot(El,De(O.left),0,J,M),Tl&&Ot(Tl,0,De(O.top),J,M);for(let r=0;r<
pt.length;r++){let a=pt[r];a!=null&&(vl[r]*=n,yl[r]*=i,Ot(a,gt(vl[r]),gt(yl[r]),J,M))}}if(ge.show&&!cn&&
ge.left>=0&&ge.width>0){ge.left*=n,ge.width*=n,ge.top*=i,ge.height*=i;for(let r in is)be(Al,r,ge[r])}
gl=de,Qt=Pe,Tt=J,Xt=M}ze("setSize"),un=!1}$t>0&&Zt>0&&(g.clearRect(0,0,x.width,x.height),ze("drawCle\
ar"),K.forEach(n=>n()),ze("draw")),ge.show&&cn&&(gn(ge),cn=!1),Ue&&el&&(sl(null,!0,!1),el=!1),Q.show&&
Q.live&&ft&&(ns(),ft=!1),h||(h=!0,l.status=1,ze("ready")),Yl=!1,mn=!1}l.redraw=(n,i)=>{wl=i||!1,n!==
!1?Ut(A,_.min,_.max):_l()};function es(n,i){let r=k[n];if(r.from==null){if(Fe==0){let a=r.range(l,i.
min,i.max,n);i.min=a[0],i.max=a[1]}if(i.min>i.max){let a=i.min;i.min=i.max,i.max=a}if(Fe>1&&i.min!=null&&
i.max!=null&&i.max-i.min<1e-16)return;n==A&&r.distr==2&&Fe>0&&(i.min=kt(i.min,t[0]),i.max=kt(i.max,t[0]),
i.min==i.max&&i.max++),z[n]=i,Vn=!0,_l()}}l.setScale=es;let ts,ls,El,Tl,si,ii,Ml,Ll,oi,ri,me,ye,Gt=!1,
Ve=O.drag,Re=Ve.x,$e=Ve.y;Ue&&(O.x&&(ts=mt(Kr,P)),O.y&&(ls=mt(Jr,P)),_.ori==0?(El=ts,Tl=ls):(El=ls,Tl=
ts),me=O.left,ye=O.top);let ge=l.select=Le({show:!0,over:!0,left:0,width:0,top:0,height:0},e.select),
Al=ge.show?mt(Yr,ge.over?P:D):null;function gn(n,i){if(ge.show){for(let r in n)ge[r]=n[r],r in is&&be(
Al,r,n[r]);i!==!1&&ze("setSelect")}}l.setSelect=gn;function kr(n){if(S[n].show)Ae&&Ss(ke[n],al);else if(Ae&&
it(ke[n],al),Ue){let r=xl?pt[0]:pt[n];r!=null&&Ot(r,-10,-10,J,M)}}function Ut(n,i,r){es(n,{min:i,max:r})}
function Lt(n,i,r,a){i.focus!=null&&Lr(n),i.show!=null&&S.forEach((f,d)=>{d>0&&(n==d||n==null)&&(f.show=
i.show,kr(d),o==2?(Ut(f.facets[0].scale,null,null),Ut(f.facets[1].scale,null,null)):Ut(f.scale,null,
null),_l())}),r!==!1&&ze("setSeries",n,i),a&&Zl("setSeries",l,n,i)}l.setSeries=Lt;function _r(n,i){Le(
j[n],i)}function Er(n,i){n.fill=te(n.fill||null),n.dir=ie(n.dir,-1),i=i??j.length,j.splice(i,0,n)}function Tr(n){
n==null?j.length=0:j.splice(n,1)}l.addBand=Er,l.setBand=_r,l.delBand=Tr;function Mr(n,i){S[n].alpha=
i,Ue&&pt[n]!=null&&(pt[n].style.opacity=i),Ae&&ke[n]&&(ke[n].style.opacity=i)}let zt,Bt,nl,Pl={focus:!0};
function Lr(n){if(n!=nl){let i=n==null,r=Mt.alpha!=1;S.forEach((a,f)=>{if(o==1||f>0){let d=i||f==0||
f==n;a._focus=i?null:d,r&&Mr(f,d?1:Mt.alpha)}}),nl=n,r&&_l()}}Ae&&bl&&Be(Ai,ae,n=>{O._lock||(tl(n),nl!=
null&&Lt(null,Pl,!0,Me.setSeries))});function At(n,i,r){let a=k[i];r&&(n=n/re-(a.ori==1?Pe:de));let f=J;
a.ori==1&&(f=M,n=f-n),a.dir==-1&&(n=f-n);let d=a._min,b=a._max,v=n/f,y=d+(b-d)*v,E=a.distr;return E==
3?$l(10,y):E==4?fa(y,a.asinh):E==100?a.bwd(y):y}function Ar(n,i){let r=At(n,A,i);return kt(r,t[0],Ce,
Oe)}l.valToIdx=n=>kt(n,t[0]),l.posToIdx=Ar,l.posToVal=At,l.valToPos=(n,i,r)=>k[i].ori==0?u(n,k[i],r?
Ze:J,r?et:0):c(n,k[i],r?bt:M,r?ct:0),l.setCursor=(n,i,r)=>{me=n.left,ye=n.top,sl(null,i,r)};function ai(n,i){
be(Al,Cl,ge.left=n),be(Al,tn,ge.width=i)}function ui(n,i){be(Al,"top",ge.top=n),be(Al,ln,ge.height=i)}
let Jl=_.ori==0?ai:ui,ql=_.ori==1?ai:ui;function Pr(){if(Ae&&Q.live)for(let n=o==2?1:0;n<S.length;n++){
if(n==0&&ut)continue;let i=Q.values[n],r=0;for(let a in i)Et[n][r++].firstChild.nodeValue=i[a]}}function ns(n,i){
if(n!=null&&(n.idxs?n.idxs.forEach((r,a)=>{ce[a]=r}):ma(n.idx)||ce.fill(n.idx),Q.idx=ce[0]),Ae&&Q.live){
for(let r=0;r<S.length;r++)(r>0||o==1&&!ut)&&Dr(r,ce[r]);Pr()}ft=!1,i!==!1&&ze("setLegend")}l.setLegend=
ns;function Dr(n,i){let r=S[n],a=n==0&&q==2?xt:t[n],f;ut?f=r.values(l,n,i)??It:(f=r.value(l,i==null?
null:a[i],n,i),f=f==null?It:{_:f}),Q.values[n]=f}function sl(n,i,r){oi=me,ri=ye,[me,ye]=O.move(l,me,
ye),O.left=me,O.top=ye,Ue&&(El&&Ot(El,De(me),0,J,M),Tl&&Ot(Tl,0,De(ye),J,M));let a,f=Ce>Oe;zt=pe,Bt=
null;let d=_.ori==0?J:M,b=_.ori==1?J:M;if(me<0||Fe==0||f){a=O.idx=null;for(let v=0;v<S.length;v++){let y=pt[v];
y!=null&&Ot(y,-10,-10,J,M)}bl&&Lt(null,Pl,!0,n==null&&Me.setSeries),Q.live&&(ce.fill(a),ft=!0)}else{
let v,y,E;o==1&&(v=_.ori==0?me:ye,y=At(v,A),a=O.idx=kt(y,t[0],Ce,Oe),E=C(t[0][a],_,d,0));let T=-10,L=-10,
U=0,oe=0,se=!0,X="",I="";for(let R=o==2?1:0;R<S.length;R++){let we=S[R],Ee=ce[R],He=Ee==null?null:o==
1?t[R][Ee]:t[R][1][Ee],fe=O.dataIdx(l,R,a,y),Te=fe==null?null:o==1?t[R][fe]:t[R][1][fe];if(ft=ft||Te!=
He||fe!=Ee,ce[R]=fe,R>0&&we.show){let tt=fe==null?-10:fe==a?E:C(o==1?t[0][fe]:t[R][0][fe],_,d,0),Ye=Te==
null?-10:G(Te,o==1?k[we.scale]:k[we.facets[1].scale],b,0);if(bl&&Te!=null){let ht=_.ori==1?me:ye,vt=Ne(
Mt.dist(l,R,fe,Ye,ht));if(vt<zt){let Pt=Mt.bias;if(Pt!=0){let lt=At(ht,we.scale),dt=Te>=0?1:-1,yt=lt>=
0?1:-1;yt==dt&&(yt==1?Pt==1?Te>=lt:Te<=lt:Pt==1?Te<=lt:Te>=lt)&&(zt=vt,Bt=R)}else zt=vt,Bt=R}}if(ft||
xl){let ht,vt;_.ori==0?(ht=tt,vt=Ye):(ht=Ye,vt=tt);let Pt,lt,dt,yt,Dt,Ke,nt=!0,il=We.bbox;if(il!=null){
nt=!1;let Je=il(l,R);dt=Je.left,yt=Je.top,Pt=Je.width,lt=Je.height}else dt=ht,yt=vt,Pt=lt=We.size(l,
R);if(Ke=We.fill(l,R),Dt=We.stroke(l,R),xl)R==Bt&&zt<=Mt.prox&&(T=dt,L=yt,U=Pt,oe=lt,se=nt,X=Ke,I=Dt);else{
let Je=pt[R];Je!=null&&(vl[R]=dt,yl[R]=yt,$i(Je,Pt,lt,nt),Oi(Je,Ke,Dt),Ot(Je,gt(dt),gt(yt),J,M))}}}}
if(xl){let R=Mt.prox,we=nl==null?zt<=R:zt>R||Bt!=nl;if(ft||we){let Ee=pt[0];Ee!=null&&(vl[0]=T,yl[0]=
L,$i(Ee,U,oe,se),Oi(Ee,X,I),Ot(Ee,gt(T),gt(L),J,M))}}}if(ge.show&&Gt)if(n!=null){let[v,y]=Me.scales,
[E,T]=Me.match,[L,U]=n.cursor.sync.scales,oe=n.cursor.drag;if(Re=oe._x,$e=oe._y,Re||$e){let{left:se,
top:X,width:I,height:R}=n.select,we=n.scales[L].ori,Ee=n.posToVal,He,fe,Te,tt,Ye,ht=v!=null&&E(v,L),
vt=y!=null&&T(y,U);ht&&Re?(we==0?(He=se,fe=I):(He=X,fe=R),Te=k[v],tt=C(Ee(He,L),Te,d,0),Ye=C(Ee(He+fe,
L),Te,d,0),Jl(_t(tt,Ye),Ne(Ye-tt))):Jl(0,d),vt&&$e?(we==1?(He=se,fe=I):(He=X,fe=R),Te=k[y],tt=G(Ee(He,
U),Te,b,0),Ye=G(Ee(He+fe,U),Te,b,0),ql(_t(tt,Ye),Ne(Ye-tt))):ql(0,b)}else os()}else{let v=Ne(oi-si),
y=Ne(ri-ii);if(_.ori==1){let U=v;v=y,y=U}Re=Ve.x&&v>=Ve.dist,$e=Ve.y&&y>=Ve.dist;let E=Ve.uni;E!=null?
Re&&$e&&(Re=v>=E,$e=y>=E,!Re&&!$e&&(y>v?$e=!0:Re=!0)):Ve.x&&Ve.y&&(Re||$e)&&(Re=$e=!0);let T,L;Re&&(_.
ori==0?(T=Ml,L=me):(T=Ll,L=ye),Jl(_t(T,L),Ne(L-T)),$e||ql(0,b)),$e&&(_.ori==1?(T=Ml,L=me):(T=Ll,L=ye),
ql(_t(T,L),Ne(L-T)),Re||Jl(0,d)),!Re&&!$e&&(Jl(0,0),ql(0,0))}if(Ve._x=Re,Ve._y=$e,n==null){if(r){if(vi!=
null){let[v,y]=Me.scales;Me.values[0]=v!=null?At(_.ori==0?me:ye,v):null,Me.values[1]=y!=null?At(_.ori==
1?me:ye,y):null}Zl(ds,l,me,ye,J,M,a)}if(bl){let v=r&&Me.setSeries,y=Mt.prox;nl==null?zt<=y&&Lt(Bt,Pl,
!0,v):zt>y?Lt(null,Pl,!0,v):Bt!=nl&&Lt(Bt,Pl,!0,v)}}ft&&(Q.idx=a,ns()),i!==!1&&ze("setCursor")}let Yt=null;
Object.defineProperty(l,"rect",{get(){return Yt==null&&jl(!1),Yt}});function jl(n=!1){n?Yt=null:(Yt=
P.getBoundingClientRect(),ze("syncRect",Yt))}function ci(n,i,r,a,f,d,b){O._lock||Gt&&n!=null&&n.movementX==
0&&n.movementY==0||(ss(n,i,r,a,f,d,b,!1,n!=null),n!=null?sl(null,!0,!0):sl(i,!0,!1))}function ss(n,i,r,a,f,d,b,v,y){
if(Yt==null&&jl(!1),tl(n),n!=null)r=n.clientX-Yt.left,a=n.clientY-Yt.top;else{if(r<0||a<0){me=-10,ye=
-10;return}let[E,T]=Me.scales,L=i.cursor.sync,[U,oe]=L.values,[se,X]=L.scales,[I,R]=Me.match,we=i.axes[0].
side%2==1,Ee=_.ori==0?J:M,He=_.ori==1?J:M,fe=we?d:f,Te=we?f:d,tt=we?a:r,Ye=we?r:a;if(se!=null?r=I(E,
se)?p(U,k[E],Ee,0):-10:r=Ee*(tt/fe),X!=null?a=R(T,X)?p(oe,k[T],He,0):-10:a=He*(Ye/Te),_.ori==1){let ht=r;
r=a,a=ht}}y&&(i==null||i.cursor.event.type==ds)&&((r<=1||r>=J-1)&&(r=ol(r,J)),(a<=1||a>=M-1)&&(a=ol(
a,M))),v?(si=r,ii=a,[Ml,Ll]=O.move(l,r,a)):(me=r,ye=a)}let is={width:0,height:0,left:0,top:0};function os(){
gn(is,!1)}let fi,pi,hi,di;function mi(n,i,r,a,f,d,b){Gt=!0,Re=$e=Ve._x=Ve._y=!1,ss(n,i,r,a,f,d,b,!0,
!1),n!=null&&(Be(ms,vs,gi,!1),Zl(Mi,l,Ml,Ll,J,M,null));let{left:v,top:y,width:E,height:T}=ge;fi=v,pi=
y,hi=E,di=T}function gi(n,i,r,a,f,d,b){Gt=Ve._x=Ve._y=!1,ss(n,i,r,a,f,d,b,!1,!0);let{left:v,top:y,width:E,
height:T}=ge,L=E>0||T>0,U=fi!=v||pi!=y||hi!=E||di!=T;if(L&&U&&gn(ge),Ve.setScale&&L&&U){let oe=v,se=E,
X=y,I=T;if(_.ori==1&&(oe=y,se=T,X=v,I=E),Re&&Ut(A,At(oe,A),At(oe+se,A)),$e)for(let R in k){let we=k[R];
R!=A&&we.from==null&&we.min!=pe&&Ut(R,At(X+I,R),At(X,R))}os()}else O.lock&&(O._lock=!O._lock,sl(i,!0,
n!=null));n!=null&&(ml(ms,vs),Zl(ms,l,me,ye,J,M,null))}function Nr(n,i,r,a,f,d,b){if(O._lock)return;
tl(n);let v=Gt;if(Gt){let y=!0,E=!0,T=10,L,U;_.ori==0?(L=Re,U=$e):(L=$e,U=Re),L&&U&&(y=me<=T||me>=J-
T,E=ye<=T||ye>=M-T),L&&y&&(me=me<Ml?0:J),U&&E&&(ye=ye<Ll?0:M),sl(null,!0,!0),Gt=!1}me=-10,ye=-10,ce.
fill(null),sl(null,!0,!0),v&&(Gt=v)}function wi(n,i,r,a,f,d,b){O._lock||(tl(n),Wn(),os(),n!=null&&Zl(
Pi,l,me,ye,J,M,null))}function bi(){F.forEach(Du),In(l.width,l.height,!0)}ul(_n,Rl,bi);let Dl={};Dl.
mousedown=mi,Dl.mousemove=ci,Dl.mouseup=gi,Dl.dblclick=wi,Dl.setSeries=(n,i,r,a)=>{let f=Me.match[2];
r=f(l,i,r),r!=-1&&Lt(r,a,!0,!1)},Ue&&(Be(Mi,P,mi),Be(ds,P,ci),Be(Li,P,n=>{tl(n),jl(!1)}),Be(Ai,P,Nr),
Be(Pi,P,wi),Ls.add(l),l.syncRect=jl);let wn=l.hooks=e.hooks||{};function ze(n,i,r){Xn?Kl.push([n,i,r]):
n in wn&&wn[n].forEach(a=>{a.call(null,l,i,r)})}(e.plugins||[]).forEach(n=>{for(let i in n.hooks)wn[i]=
(wn[i]||[]).concat(n.hooks[i])});let xi=(n,i,r)=>r,Me=Le({key:null,setSeries:!1,filters:{pub:Ii,sub:Ii},
scales:[A,S[1]?S[1].scale:null],match:[Wi,Wi,xi],values:[null,null]},O.sync);Me.match.length==2&&Me.
match.push(xi),O.sync=Me;let vi=Me.key,rs=Fo(vi);function Zl(n,i,r,a,f,d,b){Me.filters.pub(n,i,r,a,f,
d,b)&&rs.pub(n,i,r,a,f,d,b)}rs.sub(l);function Cr(n,i,r,a,f,d,b){Me.filters.sub(n,i,r,a,f,d,b)&&Dl[n](
null,i,r,a,f,d,b)}l.pub=Cr;function Or(){rs.unsub(l),Ls.delete(l),jt.clear(),ks(_n,Rl,bi),m.remove(),
ae?.remove(),ze("destroy")}l.destroy=Or;function as(){ze("init",e,t),js(t||e.data,!1),z[A]?es(A,z[A]):
Wn(),cn=ge.show&&(ge.width>0||ge.height>0),el=ft=!0,In(e.width,e.height)}return S.forEach(Js),F.forEach(
pr),s?s instanceof HTMLElement?(s.appendChild(m),as()):s(l,as):as(),l}Ie.assign=Le;Ie.fmtNum=Rs;Ie.rangeNum=
En;Ie.rangeLog=Ln;Ie.rangeAsinh=Cs;Ie.orient=fl;Ie.pxRatio=re;Ie.join=Sa;Ie.fmtDate=zs,Ie.tzDate=Ca;
Ie.sync=Fo;{Ie.addGap=mu,Ie.clipGaps=Dn;let e=Ie.paths={points:Bo};e.linear=Ko,e.stepped=bu,e.bars=xu,
e.spline=yu}var Nu=[1,2,5,10,15,30].flatMap(e=>[e,60*e]).concat([1,2,3,6,12,24,48,168].map(e=>3600*e)).sort((e,t)=>e-
t),Zo=150,Us=e=>e[3]+e[4]+e[5]+e[6],Rn=e=>t=>Us(t)>0?e(t)/Us(t):0,$n=[{title:"Where the time goes",show:bn,
stacked:!0,lines:[{name:"computing",of:Rn(e=>e[3]),colour:"--computing",hatch:"none"},{name:"waiting\
 for the last",of:Rn(e=>e[4]),colour:"--waiting",hatch:"rising"},{name:"release",of:Rn(e=>e[5]),colour:"\
--release",hatch:"dots"},{name:"exchange",of:Rn(e=>e[6]),colour:"--exchange",hatch:"falling"}]},{title:"\
A superstep takes",show:Ge,lines:[{name:"in all",of:e=>Us(e)/e[2],colour:"--first"},{name:"w, the sl\
owest process",of:e=>e[7]/e[2],colour:"--second",dash:[6,4]}]},{title:"A superstep moves",show:Kt,steps:Array.
from({length:50},(e,t)=>2**t),lines:[{name:"h, the process with most",of:e=>e[8]/e[2],colour:"--firs\
t"},{name:"sent by a process on average",of:(e,t)=>e[9]/e[2]/t,colour:"--second",dash:[6,4]}]}];function pl(e){
return getComputedStyle(document.documentElement).getPropertyValue(e).trim()}function Cu(e){let t=pl(
e.colour);if(e.hatch==="none")return t;let s=N("canvas",{width:"8",height:"8"}),l=s.getContext("2d");
if(l.fillStyle=t,l.fillRect(0,0,8,8),l.strokeStyle=l.fillStyle=pl("--ground"),l.lineWidth=1,e.hatch===
"dots")l.fillRect(3,3,2,2);else for(let o of[-8,0,8])l.moveTo(o,e.hatch==="rising"?8:0),l.lineTo(o+8,
e.hatch==="rising"?0:8);return l.stroke(),l.createPattern(s,"repeat")??t}function Qo(e,t,s){let l=[],
o=e.lines.map(()=>[]),u=(c,p)=>{l.push(c/1e3),o.forEach((h,m)=>h.push(p(m)))};return t.forEach((c,p)=>{
let h=t[p-1]?.[1]??c[0];c[0]>h&&u(h+1,()=>null);let m=0,x=e.lines.map(g=>(m=(e.stacked?m:0)+g.of(c,s),
m));u(c[0]+.5,g=>x[g]),u(c[1],g=>x[g])}),[l,...e.stacked?o.reverse():o]}function Ou(e,t){let s=e.ctx,
{left:l,top:o,width:u,height:c}=e.bbox,p=devicePixelRatio;s.save();for(let[h,m]of t){let x=Math.round(
e.valToPos(m/1e3,"x",!0));if(x<l||x>l+u)continue;let g=h==="recovery";s.strokeStyle=s.fillStyle=pl(g?
"--bad":"--text"),s.lineWidth=(g?2:1)*p,s.setLineDash(g?[]:[2*p,4*p]),s.beginPath(),s.moveTo(x,o),s.
lineTo(x,o+c),s.stroke(),s.font=`bold ${11*p}px sans-serif`,s.textAlign="center",s.fillText(g?"✕":
"▾",x,o-2*p)}s.restore()}var zn=class{box;readout=N("p",{class:"readout","aria-live":"polite"});holders;plots=[];stretches=[];marks=[];at=null;processes=1;constructor(){
this.holders=$n.map(t=>N("figure",{},N("figcaption",{},N("h3",{},t.title),this.legend(t)))),this.box=
N("section",{class:"charts",tabindex:"0",role:"group","aria-label":"Pictures of the job over time; t\
he arrow keys read them"},...this.holders,N("p",{class:"note"},"▾ checkpoint   ✕ recovery. Arrow key\
s, or a pointer, read the pictures."),this.readout),this.box.addEventListener("keydown",t=>this.onKey(
t)),new ResizeObserver(()=>this.resize()).observe(this.box),matchMedia("(prefers-color-scheme: dark)").
addEventListener("change",()=>this.draw())}clear(){this.stretches=[],this.marks=[],this.at=null,this.
update()}setProcesses(t){this.processes=Math.max(1,t)}add(t){this.stretches.splice(t.from,1/0,...t.stretches),
this.marks=t.marks,this.update()}legend(t){return N("ul",{class:"legend"},...t.lines.map(s=>N("li",{
class:`${s.hatch?`area ${s.hatch}`:s.dash?"dashed":"line"} `+s.colour.slice(2)},s.name)))}update(){this.
box.hidden=this.stretches.length===0,!this.box.hidden&&(this.plots.length===0?this.draw():this.plots.
forEach((t,s)=>t.setData(Qo($n[s],this.stretches,this.processes))),this.read())}draw(){if(!this.box.
hidden){for(let t of this.plots)t.destroy();this.plots=$n.map((t,s)=>this.plot(t,this.holders[s]))}}plot(t,s){
let l={stroke:pl("--text"),font:"11px sans-serif",grid:{stroke:pl("--line"),width:1},ticks:{stroke:pl(
"--line"),width:1}},o=t.stacked?[...t.lines].reverse():t.lines;return new Ie({width:s.clientWidth,height:Zo,
legend:{show:!1},padding:[14,8,0,0],cursor:{sync:{key:"job"},drag:{x:!1,y:!1},points:{show:!1}},scales:{
y:{range:(u,c,p)=>[0,t.stacked?1:Math.max(p,1)*1.1]}},axes:[{...l,size:28,space:80,incrs:Nu,values:(u,c)=>c.
map(p=>Ct(p*1e3))},{...l,size:64,space:24,values:(u,c)=>c.map(p=>t.show(p)),...t.steps?{incrs:t.steps}:
{}}],series:[{},...o.map(u=>({stroke:pl(u.colour),width:t.stacked?0:2,points:{show:!1},...u.dash?{dash:u.
dash}:{},...t.stacked?{fill:()=>Cu(u)}:{}}))],hooks:{draw:[u=>Ou(u,this.marks)],setCursor:[u=>this.onCursor(
u)]}},Qo(t,this.stretches,this.processes),s)}resize(){this.plots.forEach((t,s)=>{let l=this.holders[s].
clientWidth;l>0&&l!==t.width&&t.setSize({width:l,height:Zo})})}onCursor(t){if(t!==this.plots[0])return;
let{left:s,idx:l}=t.cursor;if(s===void 0||s<0||l==null)this.at=null;else{let o=t.posToVal(s,"x")*1e3;
this.at=this.stretches.findIndex(u=>u[1]>=o)}this.read()}onKey(t){let s=this.stretches.length-1,l=this.
at??s+1,o={ArrowLeft:l-1,ArrowRight:l+1,Home:0,End:s}[t.key],u=this.plots[0];if(o===void 0||!u)return;
t.preventDefault();let c=this.stretches[Math.min(Math.max(o,0),s)],p=u.valToPos((c[0]+c[1])/2e3,"x");
u.setCursor({left:p,top:10})}read(){let t=this.at===null?this.stretches.at(-1):this.stretches[this.at];
if(!t)return;let s=$n.flatMap(l=>l.lines.map(o=>`${o.name} ${l.show(o.of(t,this.processes))}`));Se(this.
readout,`${Ct(t[0])} – ${Ct(t[1])}: ${st(t[2])} supersteps; ${s.join("; ")}`)}};var Ru=2e5,$u={LATE_COMPUTING:"computes",LATE_ASLEEP:"waits for something else, not in bsp_sync",LATE_STOPPED:"\
is stopped",LATE_DEAD:"is dead"},zu=["LATE_STOPPED","LATE_DEAD","LATE_COUNTING"];function Hu(e){if(e.
lateness==="LATE_COUNTING")return`waits for ${B(e.messagesExpected)} messages in superstep ${st(B(e.
superstep))}, has ${B(e.messagesHere)}`;let t=$u[e.lateness??""]??"is late";return e.begun?t:`${t}, \
before bsp_begin`}function Fu(e){let t=e.flatMap(s=>s.late??[]);return t.some(s=>zu.includes(s.lateness??
""))||t.length>0&&e.some(s=>(s.arrived??0)>0)}function Vu(e){return Fu(e)?e.filter(t=>(t.lateCount??
0)>0).map(t=>{let s=(t.late??[]).map(o=>`pid ${o.pid??0} ${Hu(o)}`),l=(t.lateCount??0)-s.length;return`${_e(
t.node)||"this machine"}: ${s.join(", ")}${l>0?` and ${l} more`:""}; for ${Ge(B(t.forMs)*1e6)}`}):[]}
function Iu(e){let t=e.fromStart?"from the start":`from superstep ${B(e.fromSuperstep)}`,s=e.resumed?
`; resumed ${t} after ${Ge(B(e.afterMs)*1e6)}`:"; not resumed yet";return`${Ct(B(e.unixMs))} ${_e(e.
reason)}${s}`}function Wu(e){let t=_e(e.reason),s=_e(e.filesLost);return t.includes(s)?t:`${t}${t?";\
 ":""}files that it left are lost: ${s}`}function Xo(e,t,s){return e===void 0?"–":t===void 0?s(e):
`${s(e)} ± ${s(t)}`}function Gu(e){let t=B(e.groupSupersteps);return t===0?[]:[["supersteps in grou\
ps, by member",st(t)],["of computing, in their barriers",Ge(B(e.groupSyncNs))],["sent in groups",Kt(
B(e.groupBytesOut))],["messages in groups",st(B(e.groupMessages))]]}function Uu(e){let t=B(e.totalNs),
s=c=>t>0?`${Ge(c)} (${bn(c/t)})`:Ge(c),l=B(e.predictedNs),o=B(e.unmeasured),u=c=>`${Number(c.toPrecision(
3))} ns/byte`;return[["supersteps",st(B(e.supersteps))+(o>0?`, of ${st(o)} nothing else is known`:"")],
["time in them",Ge(t)],["predicted, w + h·g + l",l>0?s(l):"–"],["computing",s(B(e.computeNs))],["\
waiting for the last",s(Math.max(0,B(e.waitNs)-B(e.releaseNs)))],["release",s(B(e.releaseNs))],["exc\
hange",s(B(e.exchangeNs))],["w, the slowest",s(B(e.wNs))],["h, summed",Kt(B(e.hBytes))],["g",Xo(e.fit?.
gNsPerByte,e.fit?.gErrorNsPerByte,u)],["l",Xo(e.fit?.lNs,e.fit?.lErrorNs,Ge)],["imbalance",e.imbalance?
e.imbalance.toFixed(2):"–"],["sent",Kt(B(e.bytesOut))],["messages",st(B(e.messages))],...Gu(e)]}function Bu(e){
let t=[["user",_e(e.spec?.user)],["processes",String(e.spec?.nprocs??0)],["ran",Ge(B(e.runMs)*1e6)],
["submitted",Ct(B(e.submittedUnixMs))],["started",Ct(B(e.startedUnixMs))],["ended",Ct(B(e.endedUnixMs))],
["restarts",String(e.restarts??0)]];return e.endedUnixMs&&t.push(["exit status",String(e.exitStatus??
0)]),e.spec?.arguments&&t.push(["command",e.spec.arguments.map(s=>_e(s)).join(" ")]),e.spec?.files&&
t.push(["files",e.spec.files.map(s=>_e(s.name)).join(", ")]),t}function Yu(e){let t=e.checkpoints??{},
s=[];return B(t.committed)>0&&s.push(`The last is of superstep ${st(B(t.superstep))}, committed at ${Ct(
B(t.committedUnixMs))}: ${Kt(B(t.imageBytes))} on ${(t.holders??[]).map(l=>_e(l)).join(", ")}, a pau\
se of ${Ge(B(t.pauseNs))}. ${B(t.count)} in all.`),t.underWay&&s.push("One is under way."),B(t.givenUp)>
0&&s.push(`${B(t.givenUp)} given up; the last: ${_e(t.lastFailure)}`),s}var Hn=class{box;title=N("h2",
{tabindex:"-1"});state=N("span",{class:"state"});reason=N("p",{class:"note"});about=new Ql;costs=new Ql;charts=new zn;waits=new Nl(
"The barrier waits for","warning");losses=new Nl("Recoveries","losses");checkpoints=new Nl("Checkpoi\
nts","checkpoints");stragglers=new Nt("Last to arrive",["pid","node","supersteps","cost"],"Nobody st\
ands out.");places=new Nt("Where it runs",["node","pids"],"Nowhere.");output=N("pre",{tabindex:"0","\
aria-label":"Output"});outputNote=N("p",{class:"note"});details;constructor(){let t=(s,...l)=>N("sec\
tion",{},N("h3",{},s),...l);this.details=N("div",{},this.waits.box,this.about.box,this.charts.box,t(
"What it costs",this.costs.box),this.losses.box,this.checkpoints.box,N("div",{class:"pair"},this.stragglers.
box,this.places.box),t("Output",this.outputNote,this.output)),this.box=N("main",{},N("p",{class:"bac\
k"},N("a",{href:"#"},"← All jobs (Esc)")),N("header",{},this.title,this.state),this.reason,this.details)}begin(t){
Se(this.title,`Job ${t}`),Se(this.state,""),Se(this.reason,""),this.details.hidden=!0,this.output.replaceChildren(),
Se(this.outputNote,"Nothing was printed yet."),this.charts.clear(),this.title.focus()}show(t){if("er\
ror"in t){Se(this.reason,t.error);return}this.details.hidden=!1,Se(this.title,`Job ${t.job??0}: ${ps(
t)}`),Se(this.state,Xl(t.state)),this.state.dataset.state=t.state??"",Se(this.reason,Wu(t)),this.waits.
show(Vu(t.barrierWaits??[])),this.charts.setProcesses(t.totals?.processes??t.spec?.nprocs??1),this.about.
show(Bu(t)),this.costs.show(Uu(t.totals??{})),this.losses.show([...t.losses??[]].reverse().map(Iu)),
this.checkpoints.show(Yu(t)),this.stragglers.show((t.totals?.stragglers??[]).map(s=>({key:`${s.pid??
0}`,cells:[`${s.pid??0}`,_e(s.node)||"this machine",st(B(s.supersteps)),Ge(B(s.costNs))]}))),this.places.
show((t.placement??[]).map(s=>({key:_e(s.node),cells:[_e(s.node),ki(s.pids??[])]})))}addSeries(t){this.
charts.add(t)}addOutput(t){if(t.error)return Se(this.outputNote,t.error);let s=this.output.scrollTop+
this.output.clientHeight>=this.output.scrollHeight-40;t.left_out&&this.output.append(N("i",{},`… ${Kt(
t.left_out)} left out …
`));for(let o of t.lines??[]){let u=o.ofLauncher?"bspnow":`${o.pid??0}`,c=o.stream==="STDERR"&&!o.ofLauncher,
h=us(o.text).replace(/\n$/,"").split(`
`).map(m=>`${u}${c?"!":":"} ${m}
`);this.output.append(N("span",{class:o.ofLauncher?"launcher":c?"stderr":"stdout"},h.join("")))}let l=this.
output.textContent?.length??0;for(;l>Ru&&this.output.children.length>1;)l-=this.output.firstChild.textContent.
length,this.output.firstChild.remove();Se(this.outputNote,"The end of it, as PID: line, and PID! for\
 standard error; `bsp logs` gives all."),s&&(this.output.scrollTop=this.output.scrollHeight)}};var tr=N("span"),Bs=N("span",{role:"status"},"◌ waiting for the coordinator"),lr=N("span",{class:"\
summary"}),Fn=new xn,Vt=new Hn,nr=N("p",{class:"nobody"},"Choose a job: arrow keys and Enter, or a c\
lick."),er,at="";function Gl(e,t,s){e.addEventListener(t,l=>s(JSON.parse(l.data)))}function Ku(e){let t=e.
filter(l=>l.state==="NODE_UP"),s=l=>t.reduce((o,u)=>o+l(u),0);Se(lr,`${t.length} of ${e.length} node\
s up, ${s(l=>l.slotsUsed??0)} of ${s(l=>l.spec?.slots??0)} slots in use`)}function Ju(){er?.close();
let e=new EventSource(at===""?"/events":`/events?job=${at}`);er=e,Gl(e,"about",t=>{Se(tr,`${t.user}${t.
administrator?", administrator":""}`),Se(Bs,"● live")}),Gl(e,"nodes",({nodes:t})=>{Fn.showNodes(t??
[]),Ku(t??[])}),Gl(e,"jobs",t=>Fn.showJobs(t)),Gl(e,"job",Vt.show.bind(Vt)),Gl(e,"series",Vt.addSeries.
bind(Vt)),Gl(e,"output",Vt.addOutput.bind(Vt)),e.onopen=()=>{at!==""&&Vt.begin(at)},e.onerror=()=>Se(
Bs,e.readyState===EventSource.CLOSED?"✕ the session is over, or too many pages are open: `bsp web` o\
pens another":"◌ waiting for the coordinator")}function sr(){let e=at;at=/^#job=(\d+)$/.exec(location.
hash)?.[1]??"",document.body.dataset.view=at===""?"cluster":"job",Vt.box.hidden=at==="",nr.hidden=at!==
"",document.title=at===""?"bspnow":`bspnow: job ${at}`,Ju(),at===""&&e!==""&&Fn.focus(e)}document.body.
append(N("header",{class:"top"},N("h1",{},"bspnow"),lr,tr,Bs),N("div",{class:"columns"},Fn.box,Vt.box,
nr));addEventListener("hashchange",sr);addEventListener("keydown",e=>{e.key==="Escape"&&at!==""&&(location.
hash="")});sr();})();
